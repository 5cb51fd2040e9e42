"""Sizes of the distributions of an environment in MB, without compiled Python: ``python docs/sizes.py``."""

from importlib.metadata import distributions

sizes = {
    dist.metadata["Name"]: sum(
        path.stat().st_size
        for path in map(dist.locate_file, dist.files or ())
        if path.suffix != ".pyc" and path.is_file()
    )
    for dist in distributions()
}
for name, size in sorted(sizes.items(), key=lambda item: -item[1]):
    print(f"{size / 2**20:8.1f}  {name}")
print(f"{sum(sizes.values()) / 2**20:8.1f}  in all")
