"""A share of the campaign that kills processes, and that its checks notice what they are for."""

import gc
import logging
import os
import signal
import sqlite3
import time
import zlib

import pytest

from campaigns.chaos import Campaign
from campaigns.chaos_base import FULL, SCHEDULER, TWO, WORKER
from campaigns.chaos_processes import Child, WrongError, names_in, why_no_small_disk
from campaigns.chaos_scenarios import SCENARIOS
from protoset import _cluster, save
from protoset._files import write_atomically
from protoset.cli._options import connected

pytestmark = pytest.mark.skipif(os.name != "posix", reason="no signals that kill on this system")

SHARE = [("lists", "TERM"), ("download", TWO)]
"""Cases that are not slow."""

CASES = [(name, attack) for name, scenario in SCENARIOS.items() for attack in scenario.attacks]


def run_case(name, attack):
    if name == "dask":
        pytest.importorskip("distributed")
    if attack == FULL and why_no_small_disk():
        pytest.skip(why_no_small_disk())
    campaign = Campaign()
    campaign.run(SCENARIOS[name], attack, 0)
    assert campaign.wrong == []
    assert campaign.strikes.total() + campaign.early.total() >= 1
    return campaign


@pytest.mark.parametrize(("name", "attack"), SHARE)
def test_nothing_is_lost(name, attack):
    assert name in run_case(name, attack).table()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "attack"), [case for case in CASES if case not in SHARE])
def test_nothing_is_lost_in_any_scenario(name, attack):
    assert name in run_case(name, attack).table()


def test_every_attack_is_used():
    assert {attack for _, attack in CASES} == {"KILL", "TERM", "INT", TWO, FULL, WORKER, SCHEDULER}


@pytest.mark.parametrize("name", ["save", "export"])
def test_a_file_that_is_lost_cut_or_another_is_noticed(name, tmp_path):
    scenario = SCENARIOS[name]
    scenario.prepare(tmp_path)
    scenario.check(tmp_path)
    path = tmp_path / scenario.file
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(WrongError, match=f"truncated: {scenario.file} cannot be read"):
        scenario.check(tmp_path)
    path.unlink()
    with pytest.raises(WrongError, match=f"lost: {scenario.file} is not there any more"):
        scenario.check(tmp_path)


def test_an_output_that_is_cut_is_noticed(tmp_path):
    scenario = SCENARIOS["select"]
    scenario.prepare(tmp_path)
    scenario.check(tmp_path)
    (tmp_path / "kept.csv").write_text(scenario.outputs["kept.csv"][:-20])
    with pytest.raises(WrongError, match="truncated or damaged: kept.csv"):
        scenario.check(tmp_path)


def test_a_cell_that_is_lost_or_computed_again_is_noticed(tmp_path):
    scenario = SCENARIOS["experiment"]
    scenario.prepare(tmp_path)
    scenario.recover(tmp_path)
    scenario.check(tmp_path)
    with sqlite3.connect(tmp_path / "results.journal") as connection:
        connection.execute("DELETE FROM cells WHERE fold = 0")
    connection.close()
    with pytest.raises(WrongError, match="lost or computed again"):
        scenario.recover(tmp_path)


def test_lists_that_are_cut_are_noticed(tmp_path):
    scenario = SCENARIOS["lists"]
    scenario.recover(tmp_path)
    path = tmp_path / "neighbor_distances.npy"
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(WrongError, match="truncated: the lists are damaged"):
        scenario.check(tmp_path)


@pytest.mark.slow
def test_pairs_that_are_lost_are_noticed(tmp_path):
    scenario = SCENARIOS["pairs"]
    scenario.prepare(tmp_path)
    scenario.recover(tmp_path)
    scenario.check(tmp_path)
    with sqlite3.connect(next(tmp_path.glob("*.sqlite3"))) as connection:
        connection.execute("DELETE FROM pairs WHERE value < 0.9")
    connection.close()
    with pytest.raises(WrongError, match="lost: "):
        scenario.check(tmp_path)


# defects that the campaign found


def test_ctrl_c_just_after_a_file_got_its_name(tmp_path, monkeypatch):
    def replace(source, target):
        os.rename(source, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", b"whole")
    assert names_in(tmp_path) == {"file"}
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_ctrl_c_within_a_member_of_a_model_file(tmp_path, monkeypatch):
    def compressobj(*_):
        raise KeyboardInterrupt

    classifier = SCENARIOS["save"].classifiers[0]
    monkeypatch.setattr(zlib, "compressobj", compressobj)
    with pytest.raises(KeyboardInterrupt):
        save(classifier, tmp_path / "model")
    gc.collect()
    assert names_in(tmp_path) == set()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc to see processes in")
def test_processes_that_compute_pairs_end_with_a_killed_fit(tmp_path):
    child = Child("pairs")
    try:
        child.begin(tmp_path, {"n_jobs": 2, "seconds": 0.02})  # 18 seconds in all
        until = time.monotonic() + 60
        while len(list(tmp_path.glob("*.sqlite3"))) == 0 or len(child.descendants()) < 2:
            assert time.monotonic() < until
            assert child.is_running
            time.sleep(0.01)
        time.sleep(1)
        os.kill(child.pid, signal.SIGKILL)
        assert child.end()[0] == -signal.SIGKILL
        child.check_alone()
    finally:
        child.destroy()


class ClosingClient:
    """Notes whether distributed would log an error when a command closes its client."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.logs = logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)


def test_distributed_logs_nothing_while_the_command_closes_a_lost_client(monkeypatch):
    client = ClosingClient()
    monkeypatch.setattr(_cluster, "connect", lambda address: client)
    with connected("tcp://127.0.0.1:9") as given:
        assert given is client
    assert not client.logs
    assert logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)


def test_processes_that_stay_behind_are_seen():
    child = Child("download")
    try:
        assert child.is_running
        assert child.pid not in child.descendants()
    finally:
        child.destroy()
    assert not child.is_running


def test_lock_files_may_stay(tmp_path):
    for name in ("journal.lock", "journal", ".protoset-1"):
        (tmp_path / name).touch()
    assert names_in(tmp_path) == {"journal", ".protoset-1"}
