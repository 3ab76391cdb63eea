"""What moves under the hand: the browser app, the report in one file, the widgets. The pictures are in `web/`."""
