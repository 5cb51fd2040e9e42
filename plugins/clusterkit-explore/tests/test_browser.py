"""The page in a real browser; skipped where there is none."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

# the imports below need what is asked for here
selenium = pytest.importorskip("selenium", reason="selenium drives the browser")
from selenium import webdriver  # noqa: E402
from selenium.common.exceptions import StaleElementReferenceException  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
PICTURES = os.environ.get("EXPLORE_PICTURES")

pytestmark = [
    pytest.mark.deep,
    pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="chromium and its driver are not installed"),
]

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip


class Window:
    """A browser with the page."""

    def __init__(self, folder: Path, address: str, width: int = 1300, height: int = 1000, dark: bool = False) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(CHROMIUM)
        for flag in (*FLAGS, f"--user-data-dir={folder}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(str(DRIVER)))
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        self.driver.get(address)

    def all(self, selector: str):
        return [one for one in self.driver.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()]

    def texts(self, selector: str) -> list[str]:
        return [one.text for one in self.all(selector)]

    def until(self, ready, what: str = ""):
        for _ in range(600):
            try:
                if value := ready():
                    return value
            except (IndexError, StaleElementReferenceException):  # not there yet, or replaced just now
                pass
            time.sleep(0.1)
        raise TimeoutError(f"{what}: {self.driver.find_element(By.TAG_NAME, 'body').text}")

    def press(self, selector: str) -> None:
        def pressed() -> bool:
            chosen = [one for one in self.all(selector) if one.is_enabled()]
            if chosen:
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chosen[0])
                chosen[0].click()
            return bool(chosen)

        self.until(pressed, selector)

    def write(self, selector: str, text: str) -> None:
        self.until(lambda: self.all(selector), selector)[0].send_keys(text)

    def fit(self, clusters: int) -> None:
        self.press("#fit")
        self.until(lambda: not self.all("#status") and len(self.all("[data-cluster]")) == clusters, "the fit")

    def picture(self, name: str) -> None:
        if PICTURES:
            size = self.driver.execute_script("return [innerWidth, document.documentElement.scrollHeight]")
            clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}
            shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
            import base64

            Path(PICTURES, f"{name}.png").write_bytes(base64.b64decode(shot["data"]))
            self.driver.save_screenshot(str(Path(PICTURES, f"{name}-screen.png")))

    def complaints(self) -> list[str]:
        """What the browser logged as an error, of blocked scripts for example."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


@pytest.fixture
def window(tmp_path):
    windows = []

    def start(address: str, wait: bool = True, **more) -> Window:
        one = Window(tmp_path / f"profile-{len(windows)}", address, **more)
        windows.append(one)
        one.until(lambda: not wait or one.all("[data-cluster]"), "the clusters")
        return one

    yield start
    for one in windows:
        one.driver.quit()


def card(number: int) -> str:
    return f"[data-cluster='{number}']"


def test_select_join_split_name_undo_and_save(served, window, hostile):
    client = served()
    page = window(client.server.address)
    page.until(lambda: page.all("#report"), "the report")
    page.picture("wide-first")
    page.press(card(0))
    page.press(card(1))
    page.picture("wide-selected")
    page.press("[data-say=join]")
    assert page.until(lambda: page.texts("#statements li"))[0].startswith("clusters 0 and 1 are one")
    page.fit(2)
    left = int(page.all("[data-cluster]")[0].get_attribute("data-cluster"))
    page.press(card(left))
    page.press("[data-say=split]")
    page.until(lambda: len(page.texts("#statements li")) == 2)
    # the join holds all its rows together, so that it is taken back first
    page.press("#statements li button")
    page.until(lambda: len(page.texts("#statements li")) == 1)
    page.press(card(left))
    page.write("#name", hostile.cell)
    page.press("[data-say=name]")
    page.until(lambda: hostile.cell in page.texts(f"{card(left)} strong")[0])
    page.press("#save")
    page.until(lambda: "labels in" in page.texts("#saved")[0])
    assert (client.folder / "labels.csv").read_text(encoding="utf-8").count("onerror") > 10
    assert (client.folder / "model.clusterkit").stat().st_size > 0
    page.picture("wide-said")
    assert page.driver.title == "points.csv" or "broken" not in page.driver.title
    assert page.complaints() == []


def test_rows_are_selected_in_the_map_the_table_the_report_and_by_number(served, window):
    client = served()
    page = window(client.server.address)
    page.press("#map circle")
    page.press("#rows tbody tr:last-child button")
    page.until(lambda: page.texts("#why li")[0].startswith("Row "), "why the row is there")
    page.write("#row", "7")
    page.press("#row-form button")
    frame = page.until(lambda: page.all("#report"), "the report")[0]
    page.driver.switch_to.frame(frame)
    page.press("[data-explore=row]")
    page.press("[data-explore=cluster]")
    page.driver.switch_to.default_content()
    page.until(lambda: len(page.all("#rows tr.chosen")) == 4, "the selected rows in the table")
    words = page.texts("#selected")[0]
    assert "cluster 0" in words
    assert "7" in words
    page.press("[data-say=apart]")
    assert page.until(lambda: page.texts("#statements li"))[0].count(",") >= 1
    assert page.complaints() == []


def test_hostile_text_is_shown_as_text(served, window, hostile):
    client = served()
    page = window(client.server.address)
    page.until(lambda: page.all("#report"), "the report")
    assert hostile.column in page.texts("#rows th")
    assert any(hostile.cell in text for text in page.texts("#rows td"))
    assert "broken" not in page.driver.title
    assert page.driver.find_elements(By.CSS_SELECTOR, "main img") == []
    page.driver.get(client.server.address + "report")
    assert hostile.column in page.driver.find_element(By.TAG_NAME, "body").text
    assert page.driver.find_elements(By.CSS_SELECTOR, "body img, body script") == []
    assert "broken" not in page.driver.title
    assert page.complaints() == []


def test_the_first_fit_is_stopped_and_begun_again(served, window):
    client = served("svc", None, takes_number=False, wait=False)
    page = window(client.server.address, wait=False)
    page.press("#stop")
    page.until(lambda: page.all("#again") and not page.all("#status"), "no fit")
    assert page.texts("#verdict") == ["There are no clusters."]
    page.press("#again")
    page.until(lambda: page.all("[data-cluster]"), "the clusters")
    assert not page.all("#again, #number-form")


def test_two_windows_show_the_same(served, window):
    client = served()
    one, other = (window(client.server.address) for _ in range(2))
    one.write("#number", "4")
    one.press("#number-form button")
    other.until(lambda: other.texts("#statements li"), "the other window")
    old = client.get("state")["answer"]
    other.press(card(1))
    one.fit(4)
    other.until(lambda: len(other.all("[data-cluster]")) == 4, "four clusters")
    assert not other.all("#bar")  # what was selected among other clusters is not
    assert client.post("say", kind="join", clusters=[0, 1], answer=old)["status"] == 409
    other.press("#statements li button")
    one.until(lambda: not one.texts("#statements li"), "undone in the other window")


def test_another_page_and_another_address_are_refused(served, window, tmp_path):
    client = served()
    foreign = tmp_path / "foreign.html"
    address = json.dumps(client.server.address)
    foreign.write_text(
        f"""<title>none</title><iframe id=f src={address}></iframe><script>
        fetch({address} + "stop", {{method: "POST", mode: "no-cors", body: "{{}}"}}).catch(() => 0);
        fetch({address} + "state").then(() => document.title = "read", () => document.title = "refused");</script>""",
        encoding="utf-8",
    )
    page = window(client.server.address)
    page.driver.get(foreign.as_uri())
    page.until(lambda: page.driver.title == "refused", "the foreign page")
    page.driver.switch_to.frame(page.driver.find_element(By.ID, "f"))
    assert "Clusters" not in page.driver.find_element(By.TAG_NAME, "body").text
    page.driver.switch_to.default_content()
    page.driver.get(f"http://{client.place}/")
    assert page.driver.find_element(By.TAG_NAME, "body").text.startswith("Refused")


@pytest.mark.parametrize(("width", "dark"), [(400, False), (1300, True), (400, True)])
def test_nothing_is_wider_than_the_window(served, window, width, dark):
    client = served()
    page = window(client.server.address, width=width, dark=dark)
    page.until(lambda: page.all("#report"), "the report")
    page.press(card(0))
    page.press(card(1))
    page.press("#rows tbody tr button")
    page.picture(f"{width}-{'dark' if dark else 'light'}")
    assert page.driver.execute_script("return document.documentElement.scrollWidth") <= width
    dark_paper = (
        page.driver.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    )
    assert dark_paper is dark
