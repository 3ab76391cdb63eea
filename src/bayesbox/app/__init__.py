"""Interactive views: the browser app, the self-contained report, the widgets. The drawing code is in `web/`."""
