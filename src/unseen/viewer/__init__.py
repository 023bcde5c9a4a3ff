"""The viewer: runs looked at in a browser, on this machine alone.

::

    opened.py    a run folder as the browser needs it: points, texts, what is known of one text, pairs, failed cases
    pages.py     the pages: list of runs, explorer, pairs, failed cases, two runs, a review
    server.py    the same over HTTP: 127.0.0.1, a token in the address, nothing outside the run folders
    export.py    the same as files
"""
