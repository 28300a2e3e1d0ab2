"""What a training says, on the command line: teacher and student below each other, and where they part."""

from core.cli.drive import sample_lines
from core.events import Classed, Drawn, Said, Samples


def test_the_parting_is_marked_and_lines_stay_lines():
    said = Said("It was\n", (" a", " day"), (" a", " night", "\n"), (True, False, True))
    head, *lines = sample_lines(Samples("j", 20, said=(said,), kept=True))
    assert head == "step 20, kept:"
    assert [line.strip() for line in lines] == ["It was⏎", "teacher   a day", "student   a| night⏎"]
    (*_, last) = sample_lines(Samples("j", 20, said=(Said("It", (" a",), (" a",), (True,)),), before=True))
    assert last.strip() == "student   a|"
    (*_, last) = sample_lines(Samples("j", 20, said=(Said("It", (" a",), (" b",)),)))  # other tokens: not compared
    assert "|" not in last


def test_classes_and_distances_are_told_and_nothing_where_there_is_nothing():
    found = sample_lines(Samples("j", 3, classed=(Classed("dull", "bad", "bad", 0.75, "good", 0.5),)))
    assert found[1].strip() == "bad: teacher bad 0.75, student good 0.50  dull"
    rows = (Drawn("teacher", 32, b"", 10, 1.5, 500), Drawn("student", 4, b"", 10))
    assert sample_lines(Samples("j", 3, drawn=rows))[1:] == ["  teacher in 32 steps: Frechet distance 1.50"]
    assert sample_lines(Samples("j", 3, drawn=rows[1:])) == []
