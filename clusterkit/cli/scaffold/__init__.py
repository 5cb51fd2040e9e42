"""The files of a new plugin: templates, one for each kind of thing that a plugin can provide, and the names in them.

=========  ====================================================================================
names      The distribution, package, stage and class names that follow from one name, checked.
kinds      What a plugin can provide, and which templates make it.
files      The templates filled in, and written to a folder.
=========  ====================================================================================
"""
