"""The command in an empty folder, as the tests of the command have it."""

from tests.cli.conftest import bayes as bayes
from tests.cli.conftest import folder as folder
