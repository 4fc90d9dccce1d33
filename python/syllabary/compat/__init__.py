"""Drop-in modules for other libraries: their names, arguments and results, run by this engine.

`import syllabary` loads none of them. Leaves out: anything that those libraries do not have.
"""
