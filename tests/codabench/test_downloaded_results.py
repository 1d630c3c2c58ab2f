"""Tests of results that are downloaded through the platform's API, from two servers that imitate the platform."""

import csv
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from organised import RIGHT, WRONG
from platform_server import TOKEN, Handed, Served, serve

from harness.codabench import platform
from harness.fetch import session
from harness.submission.name import is_name, taken

pytestmark = pytest.mark.rest

#: A second after the end of the phase.
LATE = "Sun, 28 Feb 2027 12:00:01 GMT"


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Served]:
    """A platform without submissions; failed requests are repeated without a pause."""
    monkeypatch.setattr(session, "PAUSES_S", (0, 0, 0))
    monkeypatch.setenv("CODABENCH_TOKEN", TOKEN)
    with serve() as both:
        yield both


@pytest.fixture
def three(served, export, folder):
    def handed(owner, name, **more):
        return Handed(owner, folder / f"exports/{name}.zip", folder / f"exports/results/{name}.zip", **more)

    export("first", RIGHT)
    export("second", WRONG, body="return 2.0")
    served.submissions = {
        7: handed("alice", "first"),
        8: Handed("robert", folder / "exports/second.zip", status="Failed"),
        9: handed("robert", "second"),
    }
    return served


@pytest.fixture
def fetch(collect, served):
    """Return a function that runs `pgdl codabench collect TOML PAGE --phase Feedback --rerun 0`."""
    return lambda *more: collect("--rerun", "0", "--downloads", ".", *more, source=served.page)


@pytest.fixture
def submissions(pgdl, served, bundled):
    """Return a function that runs `pgdl codabench submissions TOML PAGE --phase Feedback --output Feedback`."""
    fixed = ("codabench", "submissions", bundled / "competition.toml")
    return lambda *more: pgdl(*fixed, served.page, "--phase", "Feedback", "--output", "Feedback", *more)


@pytest.fixture
def publish(pgdl, served, bundled):
    tasks = ("--tasks", bundled / "task_data", "--task", "tiny", "--results", "results.db")
    return lambda: pgdl("codabench", "publish", served.page, "Feedback", "--phase", "Feedback", *tasks)


def table():
    """Return name, participant and number of each submission in the written table."""
    lines = csv.DictReader(Path("Feedback/submissions.csv").read_text().splitlines())
    return [(line["name"], line["participant"], int(line["submission"])) for line in lines]


def test_results_are_downloaded_with_their_files_and_the_token_goes_to_the_platform_alone(
    three, fetch, pgdl, folder, monkeypatch
):
    """The token is written nowhere, and a password for the machine is not sent. Files that are here are kept."""
    (folder / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(folder / "netrc"))
    ended = fetch("--html", "site")
    assert ended.code == 0, ended.err
    said = "Feedback: 2 submissions, 16 new calls in results.db; none of them made again"
    assert ended.out.splitlines()[0] == said
    assert "Feedback: left out, because they have no score on the platform: 1 Failed\n" in ended.err
    assert pgdl("verify", "site").code == 0
    assert sorted(path.relative_to("Feedback").as_posix() for path in Path("Feedback").rglob("*.*")) == [
        "alice.zip", "results/alice.zip", "results/robert.zip", "robert.zip", "submissions.csv",
    ]  # fmt: skip
    sent = {(path.split("/")[1], authorization) for path, authorization in three.seen}
    assert sent == {("api", f"Token {TOKEN}"), ("private", None)}
    assert TOKEN not in ended.out + ended.err
    assert [path for path in folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()] == []
    before = len(three.seen)
    ended = fetch()
    assert (ended.code, "0 new calls" in ended.out) == (0, True)
    assert len(three.seen) == before + 2, "the competition, and the list"
    whole = Path("Feedback/alice.zip").read_bytes()
    Path("Feedback/alice.zip").write_bytes(whole[:-10])
    assert fetch().code == 0
    assert Path("Feedback/alice.zip").read_bytes() == whole
    assert three.asked("/private/9/") == 2


def test_the_submission_of_each_participant_that_counts_is_downloaded(three, submissions):
    file = three.submissions[7].file
    three.submissions |= {
        10: Handed("alice", file, on_leaderboard=True),
        11: Handed("alice", file),
        12: Handed("robert", file, written=LATE, on_leaderboard=True),
        13: Handed("carla", file, status="Failed"),
        14: Handed("dan", file, written=LATE),
    }
    ended = submissions()
    assert ended.code == 0, ended.err
    assert ended.out == "Feedback: 3 submissions in Feedback, listed in Feedback/submissions.csv\n"
    for line in ("robert: submission 12", "dan: submission 14"):
        assert f"{line} is left out: its file was written after the end\n" in ended.err
    counts = [("alice", "alice", 10), ("carla", "carla", 13), ("robert", "robert", 9)]
    assert sorted(table()) == counts
    assert not Path("Feedback/dan.zip").exists()
    three.ends = "2027-03-31T12:00:00Z"
    again = submissions()
    assert "Feedback: ends 2027-02-28 12:00:00+00:00 in the TOML file, which counts, but 2027-03-31 12:00" in again.err
    assert sorted(table()) == counts
    del three.submissions[13]
    three.submissions[20] = Handed("alice", three.submissions[9].file, on_leaderboard=True)
    submissions()  # replaces what is here
    assert sorted(table()) == [("alice", "alice", 20), ("robert", "robert", 9)]
    assert Path("Feedback/alice.zip").read_bytes() == three.submissions[9].file.read_bytes()
    assert sorted(path.name for path in Path("Feedback").iterdir()) == ["alice.zip", "robert.zip", "submissions.csv"]


def test_no_two_participants_share_a_name_nor_has_one_that_of_a_measure(three, submissions):
    file = three.submissions[7].file
    owners = ["анна", "müller", "muller", "möller", "Ann", "ann", "vc-dim", "=1+1", "olli1", "0lli1", "olli1_936b3750"]
    three.submissions = {number: Handed(owner, file) for number, owner in enumerate(owners)}
    assert submissions().code == 0
    names = [name for name, _, _ in table()]
    assert len({name.lower() for name in names}) == len(owners) == len(list(Path("Feedback").glob("*.zip")))
    assert all(is_name(name) and not taken(name) for name in names)
    assert sorted(name.partition("_")[0] for name in names if "ller" in name) == ["moller", "muller", "muller"]
    assert "'=1+1" in {participant for _, participant, _ in table()}, "no formula of a spreadsheet"


def test_final_scores_are_put_on_the_platforms_board_of_several_seeds_the_last_requested(
    three, fetch, submissions, export, publish
):
    fetch()
    for number in (7, 9):
        three.submissions[number].on_leaderboard = True
    three.submissions[10] = Handed("carla", three.submissions[7].file)
    submissions()
    three.submissions[9].status = "Failed"  # and so without scores on the platform
    ended = publish()
    assert ended.code == 0, ended.err
    assert three.changed == {71: "100.0000", 70: "100.0000"}
    assert ended.out == f"Feedback: 1 score on the board of {three.url}/competitions/12/\n"
    assert "robert: left out: submission 9 has no `final` on the platform's board\n" in ended.err
    assert "carla: left out: no score of Feedback/carla.zip in the results\n" in ended.err
    for number, values, seed in ((21, WRONG, 1), (22, RIGHT, 2)):
        export("first", values, run_seed=seed)
        three.submissions[number] = replace(three.submissions[7], on_leaderboard=True)
        fetch()
        three.changed.clear()
        assert publish().code == 0
    assert three.changed == {221: "100.0000", 220: "100.0000"}


def test_a_download_that_was_interrupted_is_continued_and_a_submission_whose_files_are_gone_is_named(three, fetch):
    three.cut = True
    err = fetch().refusal()
    assert three.asked("/private/7/") == 4, "it was asked again"
    assert err.splitlines()[-1].startswith(f"pgdl: {three.storage}/private/7/data_file.zip: ")
    assert err.endswith("; the same command continues\n")
    assert "5ecret" not in err, "a signed address is a key, too"
    assert not Path("Feedback/alice.zip").exists()
    three.cut, three.stored = False, [503, 429]
    assert fetch().code == 0
    three.submissions[10] = replace(three.submissions[7], owner="carla")
    three.submissions[7].output = None
    Path("Feedback/results/alice.zip").unlink()
    ended = fetch()
    assert "2 submissions, 8 new calls" in ended.out
    assert three.asked("/private/9/") == 4 + 4, "what was cut off, then what was busy, its file and its output"
    assert "alice: left out: " in ended.err
    assert "/api/submissions/7/get_details/: the platform has no such file: expected alice.zip" in ended.err


#: What is wrong with the platform or the environment, options of `pgdl codabench submissions`, and the error.
REFUSALS = {
    "expired": (
        lambda served, environment: environment.setenv("CODABENCH_TOKEN", "old"),
        "/api/competitions/12/: refused: found 403 Forbidden: Invalid token.; pgdl help codabench says how to get",
    ),
    "broken": (
        lambda served, _: served.statuses.extend([500] * 100),
        "cannot be fetched: the server answers 500 Internal Server Error; the same command continues",
    ),
    "moved": (
        lambda served, _: setattr(served, "redirect_to", served.storage),
        "the token is not sent there; name the address that the platform has now",
    ),
    "pages": (lambda served, _: setattr(served, "text", '{"results": []}'), "not an answer of Codabench's API"),
    "echo": (lambda served, _: setattr(served, "text", f'{{"phases": "{TOKEN}"}}'), "repeats the token in its answer"),
    "other JSON": (lambda served, _: setattr(served, "text", '{"phases": 1}'), "API: phases: expected list, found 1"),
    "participant": (
        lambda served, _: setattr(served, "organiser", False),
        "the user of the token is no organiser of this competition",
    ),
    "no token": (
        lambda _, environment: environment.delenv("CODABENCH_TOKEN"),
        "CODABENCH_TOKEN: no token of the platform; set CODABENCH_TOKEN, or name a file with --token-file",
    ),
    "{page} Finale": (None, "--phase: expected one of 'Feedback', 'Final', found 'Finale'"),
    "{url}/competitions/13/ Feedback": (None, "refused: found 404 Not Found: No such thing matches the given query."),
    "{url}/profiles/me Feedback": (None, "not the page of a competition: expected https://www.codabench.org/competitions/"),
    "http://example.org/competitions/12/ Feedback": (None, "example.org: not encrypted: expected https; --allow-http"),
    "http://127.0.0.1:1/competitions/12/ Feedback": (None, "127.0.0.1 cannot be reached: found"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_the_platform_refuses_and_addresses_that_lead_nowhere_are_said_in_one_line(
    served, collect, monkeypatch, case
):
    """A case without a change is an address and a phase."""
    change, said = REFUSALS[case]
    served.submissions[7] = Handed("alice", Path(__file__))
    if change is not None:
        change(served, monkeypatch)
    page, _, phase = (case if change is None else "{page} Feedback").partition(" ")
    page = page.format(page=served.page, url=served.url)
    err = collect("--phase", phase, "--rerun", "0", "--downloads", ".", source=page).refusal()
    assert said in err
    assert TOKEN not in err
    assert served.asked("/private/") == 0
    assert not Path("results.db").exists()
    assert not Path("Feedback").exists()


def test_hosts_without_encryption_are_named_by_the_user(three, submissions, monkeypatch):
    """Some organisers host their own instance, whose site or storage may have plain HTTP."""
    monkeypatch.setattr(platform, "LOCAL", ("127.0.0.1",))
    err = submissions().refusal()
    assert "http://localhost: not encrypted: expected https; --allow-http localhost allows it" in err
    ended = submissions("--allow-http", "localhost")
    assert ended.code == 0, ended.err
    assert "localhost: its http addresses are reached without encryption; others may read the token and" in ended.err
