"""From a machine with nothing to a working environment: what is chosen, what is installed, what is said."""

import sys

import pytest

#: Package manager -> how it is called to install bubblewrap.
MANAGERS = {
    "apt-get": "apt-get install -y -qq -o DPkg::Lock::Timeout=120 --no-install-recommends bubblewrap",
    "dnf": "dnf install --assumeyes --quiet bubblewrap",
    "pacman": "pacman -S --needed --noconfirm bubblewrap",
    "apk": "apk add --quiet bubblewrap",
    "zypper": "zypper --non-interactive --quiet install bubblewrap",
}
ROOT_USER, ORDINARY_USER = "echo 0", "echo 1000"
A_PYTHON = f'exec {sys.executable} "$@"'

#: A Python that makes environments in which it is itself the interpreter.
MAKES_ENVIRONMENTS = """
case "$*" in
    *"import ensurepip"*) exit {without_ensurepip} ;;
    *python%d.%d-venv*) echo python3.11-venv ;;
    *"-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
esac
"""


def pretending(version):
    """A Python that says that it is of another version."""
    return f'exec {sys.executable} -c "import sys; sys.version_info = {version}; $2"'


@pytest.mark.parametrize("manager", MANAGERS)
def test_packages_are_installed_as_root(machine, manager):
    machine.add(manager)
    machine.add("id", ROOT_USER)
    assert machine.run(".ci/install", "bubblewrap").returncode == 0
    assert machine.calls()[-1] == MANAGERS[manager]


@pytest.mark.parametrize("manager", MANAGERS)
def test_packages_are_installed_with_a_sudo_that_asks_nothing(machine, manager):
    machine.add(manager)
    machine.add("id", ORDINARY_USER)
    machine.add("true")
    machine.add("sudo", '[ "$1" = -n ] && shift && exec "$@"')
    assert machine.run(".ci/install", "bubblewrap").returncode == 0
    assert machine.calls()[-1] == MANAGERS[manager]


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("sudo", ["missing", "asks for a password"])
def test_who_may_not_install_is_told_the_command(machine, manager, sudo):
    machine.add(manager)
    machine.add("id", ORDINARY_USER)
    if sudo != "missing":
        machine.add("sudo", "echo 'sudo: a password is required' >&2; exit 1")
    ended = machine.run(".ci/install", "bubblewrap")
    verb = "-S" if manager == "pacman" else "add" if manager == "apk" else "install"
    assert ended.returncode == 1
    assert ended.stderr == f"bubblewrap: not installed; install it with: sudo {manager} {verb} bubblewrap\n"
    assert not any(call.startswith(manager) for call in machine.calls())


def test_a_system_without_a_known_package_manager(machine):
    ended = machine.run(".ci/install", "bubblewrap")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)


def test_an_installation_that_fails_is_not_silent(machine):
    machine.add("apt-get", "echo 'E: Unable to locate package' >&2; exit 100")
    machine.add("id", ROOT_USER)
    ended = machine.run(".ci/install", "bubblewrap")
    assert ended.returncode == 1
    assert "E: Unable to locate package" in ended.stderr
    assert ended.stderr.endswith("then try: apt-get install bubblewrap\n")


def test_the_newest_python_that_fits_is_taken(machine):
    machine.add("python3", A_PYTHON)
    machine.add("python3.12", A_PYTHON)
    machine.add("python3.13", "echo 'pyenv: python3.13: command not found' >&2; exit 127")
    assert machine.run(".ci/find-python").stdout == "python3.12\n"


@pytest.mark.parametrize(("minor", "fits"), [(10, False), (11, True), (12, True), (13, True), (14, False)])
def test_versions_that_have_wheels_of_tensorflow(machine, minor, fits):
    machine.add("python3", pretending((3, minor, 0, "final", 0)))
    assert (machine.run(".ci/find-python").returncode == 0) is fits


@pytest.mark.parametrize("given", [[], ["python3.9"]])
def test_no_python_that_fits(machine, given):
    ended = machine.run(".ci/find-python", *given)
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith("python3.9: expected" if given else "expected")
    assert "make PYTHON=" in ended.stderr


def test_setup_makes_the_environment_at_the_tested_versions(machine):
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=0))
    assert machine.run(".ci/setup", ".venv").returncode == 0
    *_, install, compilation = machine.calls()
    assert install.endswith("--no-compile -c constraints.txt -e .[dev,testbed,tensorflow,jax,torch]")
    assert compilation.endswith("-m compileall -qq -j 0 .venv/lib")


def test_setup_keeps_an_environment_that_works(machine):
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=0))
    for made in (True, False):
        machine.run(".ci/setup", ".venv")
        assert any("-m venv" in call for call in machine.calls()) is made


def test_setup_installs_the_part_of_python_that_debian_leaves_out(machine):
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=1))
    machine.add("id", ROOT_USER)
    machine.add("apt-get")
    assert machine.run(".ci/setup", ".venv").returncode == 0
    assert any(call.endswith("--no-install-recommends python3.11-venv") for call in machine.calls())


def test_setup_names_the_part_of_python_that_it_may_not_install(machine):
    machine.add("python3.11", MAKES_ENVIRONMENTS.format(without_ensurepip=1))
    machine.add("id", ORDINARY_USER)
    machine.add("apt-get")
    ended = machine.run(".ci/setup", ".venv")
    assert ended.returncode == 1
    assert ended.stderr == "python3.11-venv: not installed; install it with: sudo apt-get install python3.11-venv\n"
    assert not (machine.checkout / ".venv").exists()


def test_continuous_integration_starts_from_nothing(machine):
    make = machine.programs / "make"
    machine.remove("make")
    machine.add("id", ROOT_USER)
    machine.add(
        "apt-get",
        f'[ "$1" = update ] || {{ for name; do :; done; cp {machine.programs}/any "{machine.programs}/$name"; }}',
    )
    # The installed `make` only logs its call; the installed `python3` is this Python.
    machine.add("any", f'[ "${{0##*/}}" = make ] || {A_PYTHON}')
    ended = machine.run(".ci/run")
    calls = machine.calls()
    assert make.exists()
    assert [call.split()[-1] for call in calls if "apt-get install" in call] == ["make", "python3"]
    assert [call.split()[-1] for call in calls[-2:]] == ["test", "test-rest"]
    assert "make is missing" in ended.stdout
    assert "make test, with python3" in ended.stdout
