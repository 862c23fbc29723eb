import pytest

import tutti
from tutti import rank, ranks


def ring(wrong: bool = False) -> tutti.Algorithm:
    """Returns the ring of docs/your-own-algorithm.md."""
    a = tutti.Algorithm("python_ring", collective="all_reduce", chunks=ranks)
    left = a.let("left", rank - 1)
    right = a.let("right", rank + 1)
    with a.lane():
        a.send(a.data[rank], to=right)
        with a.loop("round", 1, ranks - 2) as r:
            a.reduce(a.data[rank - r], source=left, then="only send", to=right)
        a.reduce(a.data[rank + 1], source=left, to=right)
        with a.loop("round", ranks, 2 * ranks - 3) as r:
            a.receive(a.data[rank - r], source=left, to=right)
        a.receive(a.data[rank + (1 if wrong else 2)], source=left)
    return a


def test_to_text_writes_the_language():
    text = ring().to_text()
    assert "algorithm python_ring\ncollective all_reduce\nchunks ranks\n" in text
    assert "    reduce data[(rank - round)] from left then only send to right\n" in text


def test_an_algorithm_is_proved_and_takes_the_time_of_the_built_in_ring(small):
    small.strategy.bytes_per_pack = 0
    built_in = small.simulate().step_time_us
    own = small.use(ring())
    assert own.plan(check=True).packs
    assert own.simulate().step_time_us == pytest.approx(built_in, rel=0.2)
    assert small.strategy.custom.file.endswith("python_ring.tutti-algorithm")
    small.use("ring")
    assert small.strategy.custom.file is None
    assert small.simulate().step_time_us == built_in


def test_a_wrong_algorithm_is_refused_with_its_position(small):
    small.use(ring(wrong=True))
    with pytest.raises(tutti.Error) as caught:
        small.simulate()
    assert "python_ring" in str(caught.value)


def test_statements_and_lanes_are_checked():
    a = tutti.Algorithm("x")
    with pytest.raises(TypeError, match="lane"):
        a.send(a.data[0], to=1)
    with pytest.raises(TypeError, match="depends on the rank"):
        if rank == 0:
            pass
    with pytest.raises(TypeError, match="whole number"):
        rank + 0.5
    with pytest.raises(TypeError):
        with a.lane():
            with a.lane():
                pass


def test_every_statement_is_written_as_valid_text(small, tmp_path):
    a = tutti.Algorithm("both", chunks=2 * ranks, scratch=2, slots=8)
    width = a.parameter("width", 2)
    a.require(ranks > 1, 'more than "one" rank')
    with a.lane("even"):
        with a.when((rank % 2 == 0) & ~(ranks == 1)):
            a.send(a.data.count(0, width), to=rank + 1)
        with a.otherwise():
            a.receive(a.scratch[0:2].like(0) if False else a.scratch[0:2], source=rank - 1)
        a.mark("sent")
    with a.lane("other"):
        a.wait_for("sent")
        a.copy(a.data[0], a.scratch[1])
        with a.loop("i", 3, 0, down=True) as i:
            a.add(a.scratch[1], a.data[tutti.choose(i > 1, 0, 1)])
        a.wait_for_lane("even")
        a.copy(a.data[tutti.call("min", rank, 1)].piece(0, 2), a.scratch[0].piece(0, 2))
    small.use(a)
    # The text is valid, but it is no all-reduce, which the checker reports.
    with pytest.raises(tutti.Error) as caught:
        small.plan(check=True)
    assert all(problem.code not in ("syntax", "unknown-name") for problem in caught.value.problems)
    # The language for algorithms cannot express a double quote.
    assert "require (ranks > 1) \"more than 'one' rank\"\n" in a.to_text()
    a.save(tmp_path / "a.tutti-algorithm")
    assert tutti.load_algorithm(tmp_path / "a.tutti-algorithm").to_text() == a.to_text()


def test_mistakes_with_values_that_depend_on_the_rank_name_the_remedy():
    with pytest.raises(TypeError, match="use //"):
        tutti.rank / 2
    with pytest.raises(TypeError, match=r"use algorithm.loop\("):
        range(tutti.ranks)
