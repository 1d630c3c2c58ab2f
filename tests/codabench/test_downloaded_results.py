"""Results that are downloaded through the platform's API, from two servers that answer as the platform does."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from platform_server import TOKEN, Served, serve
from throwaway import GAPS

from harness.codabench import platform
from harness.fetch import ranges

RIGHT, WRONG = list(GAPS), [0.3, 0.1, 0.4, 0.1, 0.5, 0.9, 0.2, 0.6]


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Served]:
    """The platform, without submissions; it is asked again at once."""
    monkeypatch.setattr(ranges, "PAUSES_S", (0, 0, 0))
    monkeypatch.setenv("CODABENCH_TOKEN", TOKEN)
    with serve() as both:
        yield both


@pytest.fixture
def three(served, export):
    """Two submissions with scores, and one that failed."""
    served.outputs = {
        7: ("alice", "Finished", export("first", RIGHT)),
        8: ("robert", "Failed", None),
        9: ("robert", "Finished", export("second", WRONG, digest="d2", hours=1)),
    }
    return served


@pytest.fixture
def fetch(collect, served):
    """Run `pgdl codabench collect PAGE --phase Feedback`."""
    return lambda *more: collect(served.page, "--phase", "Feedback", *more)


def test_outputs_are_downloaded_under_their_owners_names(three, fetch, pgdl):
    ended = fetch("--html", "site")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[0] == "Feedback: 2 submissions, 16 new calls in results.db"
    assert "Feedback: submissions without a score on the platform are left out: 1 Failed\n" in ended.err
    assert pgdl("verify", "site").code == 0
    assert sorted(path.as_posix() for path in Path("exports").rglob("*.*")) == [
        "exports/7/alice.zip",
        "exports/9/robert.zip",
    ]


def test_no_two_participants_share_a_name(served, fetch, export):
    served.outputs = {
        number: (owner, "Finished", export(f"export{number}", RIGHT, digest=f"d{number}", hours=number))
        for number, owner in enumerate(["анна", "олег", "ann"])
    }
    ended = fetch()
    assert ended.out.splitlines()[0] == "Feedback: 3 submissions, 24 new calls in results.db", ended.err
    names = [path.stem for path in sorted(Path("exports").rglob("*.zip"))]
    assert [name[:5] for name in names] == ["_____", "_____", "ann"]
    assert len(set(names)) == 3


def test_the_token_goes_to_the_platform_alone_and_is_written_nowhere(three, fetch, folder, monkeypatch):
    (folder / "netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(folder / "netrc"))
    ended = fetch("--html", "site")
    assert ended.code == 0, ended.err
    sent = {(path.split("/")[1], authorization) for path, authorization in three.seen}
    assert sent == {("api", f"Token {TOKEN}"), ("private", None)}
    assert TOKEN not in ended.out + ended.err
    assert [path for path in folder.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()] == []


def test_the_token_is_read_from_a_file(three, fetch, folder, monkeypatch):
    monkeypatch.delenv("CODABENCH_TOKEN")
    (folder / "token").write_text(f"{TOKEN}\n")
    assert fetch("--token-file", "token").code == 0


def test_what_is_there_is_not_downloaded_again(three, fetch):
    fetch()
    before = len(three.seen)
    ended = fetch()
    assert (ended.code, "0 new calls" in ended.out) == (0, True)
    assert len(three.seen) == before + 2, "the competition, and the list"


def test_a_download_that_was_interrupted_is_continued(three, fetch):
    three.cut = True
    ended = fetch()
    assert ended.code == 2
    assert three.asked("/private/7/") == 4, "it was asked again"
    assert ended.err.splitlines()[-1].startswith(f"pgdl: {three.storage}/private/7/prediction_result.zip: ")
    assert ended.err.endswith("; the same command continues\n")
    assert "5ecret" not in ended.err, "a signed address is a key, too"
    assert not Path("exports/7/alice.zip").exists()
    three.cut, three.stored = False, [503, 429]
    assert fetch().code == 0
    three.outputs[10] = ("carla", "Finished", three.outputs[7][2])
    assert "8 new calls" in fetch().out
    assert three.asked("/private/9/") == 1


def test_what_is_there_but_damaged_is_downloaded_again(three, fetch):
    fetch()
    whole = Path("exports/7/alice.zip").read_bytes()
    Path("exports/7/alice.zip").write_bytes(whole[:1000])
    assert fetch().code == 0
    assert Path("exports/7/alice.zip").read_bytes() == whole
    assert three.asked("/private/9/") == 1


def test_pages_are_followed_on_the_same_host(three, fetch):
    three.page_size = 1
    assert "2 submissions, 16 new calls" in fetch().out
    assert three.asked("/api/submissions/?") == 3


def test_an_owner_whose_name_is_a_measures_is_named_and_left_out(three, fetch):
    three.outputs[7] = ("vc-dim", *three.outputs[7][1:])
    ended = fetch()
    assert "1 submission, 8 new calls" in ended.out
    assert "left out: exports/7/vc-dim.zip: cannot be called 'vc-dim': vc_dim is a measure of the library" in ended.err


def test_a_submission_whose_output_is_gone_is_named(three, fetch):
    three.outputs[7] = ("alice", "Finished", None)
    ended = fetch()
    assert "1 submission, 8 new calls" in ended.out
    assert "left out: submission 7 of alice: the platform has no output of it" in ended.err


def test_a_busy_platform_is_asked_again(three, fetch):
    three.statuses = [500, 429, 502]
    assert fetch().code == 0


def silent(served, monkeypatch):
    served.stall_s = 1
    monkeypatch.setattr(ranges, "PAUSES_S", ())
    monkeypatch.setattr(platform, "TIMEOUTS_S", (5, 0.1))


REFUSALS = {
    "expired": (
        lambda served, environment: environment.setenv("CODABENCH_TOKEN", "old"),
        "/api/competitions/12/: refused: found 403 Forbidden: Invalid token.; docs/codabench.md says how to get",
    ),
    "broken": (
        lambda served, _: served.statuses.extend([500] * 100),
        "cannot be fetched: the server answers 500 Internal Server Error; the same command continues",
    ),
    "busy": (
        lambda served, _: served.statuses.extend([429] * 100),
        "cannot be fetched: the server answers 429 Too Many Requests; the same command continues",
    ),
    "silent": (silent, "127.0.0.1 is silent: found Read timed out. (read timeout=0.1); the same command continues"),
    "moved": (
        lambda served, _: setattr(served, "redirect_to", served.storage),
        "the token is not sent there; name the address that the platform has now",
    ),
    "no JSON": (lambda served, _: setattr(served, "text", "<html>"), "not an answer of Codabench's API"),
    "other JSON": (lambda served, _: setattr(served, "text", '{"phases": 1}'), "API: phases: expected list, found 1"),
    "participant": (
        lambda served, _: setattr(served, "organiser", False),
        "the user of the token is no organiser of this competition",
    ),
    "no token": (
        lambda _, environment: environment.delenv("CODABENCH_TOKEN"),
        "CODABENCH_TOKEN: no token of the platform; set CODABENCH_TOKEN, or name a file with --token-file",
    ),
    "two lines": (
        lambda _, environment: environment.setenv("CODABENCH_TOKEN", f"{TOKEN}\r\nHost: other"),
        "CODABENCH_TOKEN: not a token: expected up to 200 ASCII characters without a space",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSALS)
def test_what_the_platform_refuses_is_said_in_one_line(three, fetch, monkeypatch, case):
    change, said = REFUSALS[case]
    change(three, monkeypatch)
    ended = fetch()
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1
    assert TOKEN not in ended.err
    assert three.asked("/private/") == 0
    assert not Path("results.db").exists()


@pytest.mark.parametrize(
    ("address", "more", "said"),
    [
        ("{page}", [], "--phase: expected one of 'Feedback', 'Final', found none"),
        ("{page}", ["--phase", "Finale"], "--phase: expected one of 'Feedback', 'Final', found 'Finale'"),
        ("{url}/competitions/13/", [], "refused: found 404 Not Found: No such thing matches the given query."),
        ("{url}/profiles/me", [], "not the page of a competition: expected https://www.codabench.org/competitions/ID/"),
        ("http://example.org/competitions/12/", [], "a token is not sent without encryption: expected https"),
        ("http://127.0.0.1:1/competitions/12/", [], "127.0.0.1 cannot be reached: found"),
    ],
)
def test_addresses_that_lead_nowhere_are_said_in_one_line(three, collect, address, more, said):
    ended = collect(address.format(page=three.page, url=three.url), *more)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_files_have_no_phase_to_choose(export, collect):
    ended = collect(export("ann", RIGHT), "--phase", "Final")
    assert ended.err == "pgdl: --phase and --token-file: expected with the page of a competition\n"


def test_the_address_of_a_page_keeps_its_secrets(three, collect):
    for page in (
        three.page.replace("//", "//me:5ecret@"), three.page.replace("//", "//me:x@5ecret@"),
        f"{three.page}?key=5ecret",
        f"{three.url}/profiles/me?key=5ecret", f"{three.url}/competitions/13/?key=5ecret",
    ):  # fmt: skip
        ended = collect(page)
        assert (ended.code, len(ended.err.splitlines())) == (2, 1)
        assert "5ecret" not in ended.err
