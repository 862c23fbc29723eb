"""Reads tables through Arrow's C stream interface with ctypes, as pyarrow, polars and DuckDB do."""

import ctypes

import numpy


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]

TYPES = {b"l": numpy.int64, b"i": numpy.int32, b"g": numpy.float64}


def numbers(address, length, dtype):
    if length == 0:
        return numpy.empty(0, dtype)
    buffer = (ctypes.c_char * (length * numpy.dtype(dtype).itemsize)).from_address(address)
    return numpy.frombuffer(buffer, dtype)


def texts(array):
    ends = numbers(array.buffers[1], array.length + 1, numpy.int32)
    data = ctypes.string_at(array.buffers[2], int(ends[-1])) if ends[-1] else b""
    return [data[ends[i] : ends[i + 1]].decode() for i in range(array.length)]


def consume(table):
    """Returns copies of the columns of a table, read through its stream. Releases everything."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = Stream.from_address(pointer(capsule, b"arrow_array_stream"))
    schema, columns = Schema(), {}
    assert stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)) == 0
    assert schema.format == b"+s"
    while True:
        batch = Array()
        assert stream.get_next(ctypes.byref(stream), ctypes.byref(batch)) == 0
        if not batch.release:
            break
        for c in range(batch.n_children):
            child, kind = batch.children[c].contents, schema.children[c].contents
            assert child.null_count == 0 and child.length == batch.length
            if kind.format == b"u":
                values = texts(child)
            else:
                values = numbers(child.buffers[1], child.length, TYPES[kind.format])
                address = child.buffers[1]
                if kind.dictionary:
                    names = texts(child.dictionary.contents)
                    values = [names[v] for v in values]
                else:
                    values = (values.copy(), address)
            columns[kind.name.decode()] = values
        batch.release(ctypes.byref(batch))
        assert not batch.release
    schema.release(ctypes.byref(schema))
    stream.release(ctypes.byref(stream))
    return columns


def test_a_consumer_reads_every_column(small):
    result = small.simulate(timeline=True)
    for table in (result.spans, result.packs, result.links, result.steps, result.messages, result.tracks):
        columns = consume(table)
        assert list(columns) == table.columns
        for name, values in columns.items():
            names = table.categories(name)
            if names:
                assert values == [names[v] for v in table[name]]
            elif isinstance(values, tuple):
                assert (values[0] == table[name]).all()
            else:
                assert values == list(table[name])


def test_nothing_is_copied(small):
    spans = small.simulate(timeline=True).spans
    columns = consume(spans)
    assert columns["start_ps"][1] == spans["start_ps"].ctypes.data


def test_unread_streams_are_released(small):
    spans = small.simulate(timeline=True).spans
    for _ in range(100):
        spans.__arrow_c_stream__()
