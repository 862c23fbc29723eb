// The extension module tutti._core, which the Python package calls. Long work runs in a separate
// thread without the GIL. Meanwhile, the calling thread handles signals (Ctrl-C) and reports
// progress. Errors are returned as lists of problems, which the Python package raises as exceptions
// (tutti/errors.py).

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "core/base/format.h"
#include "core/base/version.h"
#include "core/edit/old_form_text.h"
#include "core/edit/overrides.h"
#include "core/scenario/library_folder.h"
#include "core/text/report.h"
#include "core/timeline/compare.h"
#include "core/timeline/export_csv.h"
#include "core/timeline/export_perfetto.h"
#include "core/timeline/export_svg.h"
#include "core/timeline/writer.h"
#include "tools/python/arrow.h"
#include "tools/python/recording.h"
#include "tools/python/scenario_fields.h"
#include "tools/python/sweep_table.h"
#include "tools/python/table.h"
#include "tools/tutti/command_line.h"
#include "tools/tutti/compare.h"
#include "tools/tutti/io/capture.h"
#include "tools/tutti/io/output_file.h"
#include "tools/tutti/report/report.h"

namespace py = pybind11;

namespace tutti::python {
namespace {

// --- Errors ---

py::list problems_of(const core::Error& error) {
  py::list problems;
  for (const core::Problem& problem : error.problems()) {
    py::dict one;
    one["file"] = problem.where.file;
    one["line"] = problem.where.line;
    one["column"] = problem.where.column;
    one["code"] = std::string(to_string(problem.kind.code));
    one["field"] = problem.kind.field;
    one["worker"] = problem.kind.worker;
    one["text"] = problem.text;
    problems.append(one);
  }
  return problems;
}

/// Raises the package's exception: `tutti.errors.raise_problems(kind, problems)`.
[[noreturn]] void raise(const core::Error& error) {
  const char* const kind = error.kind() == core::ErrorKind::kRun ? "run" : "request";
  py::module_::import("tutti.errors").attr("raise_problems")(kind, problems_of(error));
  throw py::value_error("unreachable: raise_problems() raises");
}

template <class T>
T value_or_raise(core::Expected<T> result) {
  if (!result) raise(result.error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// --- Work without the GIL ---

/// Reports the progress of long work to the caller.
class Course {
 public:
  /// `progress` is None or is called as progress(what, share).
  explicit Course(py::object progress) : progress_(std::move(progress)) {}

  const std::atomic<bool>& cancel() const { return cancel_; }
  /// Stores the latest progress. Called by the thread that executes the work.
  void update(std::string_view what, double share) {
    const std::lock_guard lock(mutex_);
    if (!latest_ || latest_->first != what || latest_->second != share) {
      latest_ = {std::string(what), share};
      fresh_ = true;
    }
  }

  /// Runs `work` in a thread and returns when it has ended. If a signal handler or the callback
  /// raises an exception, the work is cancelled. The function take_exception() returns the
  /// exception afterwards. This function rethrows exceptions of the work itself.
  template <class Work>
  void run(Work work) {
    std::exception_ptr thrown;
    {
      const py::gil_scoped_release release;
      std::thread thread([&] {
        try {
          work();
        } catch (...) {
          thrown = std::current_exception();
        }
        const std::lock_guard lock(mutex_);
        done_ = true;
        changed_.notify_all();
      });
      for (std::unique_lock lock(mutex_); !done_;) {
        changed_.wait_for(lock, kPoll, [&] { return done_; });
        lock.unlock();
        poll();
        lock.lock();
      }
      thread.join();
    }
    if (thrown) std::rethrow_exception(thrown);
  }

  /// Returns the exception that cancelled the work, or None.
  py::object take_exception() { return std::exchange(exception_, py::none()); }

 private:
  static constexpr std::chrono::milliseconds kPoll{50};

  void poll() {
    const py::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      std::optional<std::pair<std::string, double>> news;
      {
        const std::lock_guard lock(mutex_);
        if (std::exchange(fresh_, false)) news = latest_;
      }
      if (news && !progress_.is_none() && exception_.is_none())
        progress_(news->first, news->second);
    } catch (py::error_already_set& error) {
      cancel_.store(true);
      if (exception_.is_none()) exception_ = error.value();
    }
  }

  py::object progress_;
  py::object exception_ = py::none();
  std::atomic<bool> cancel_{false};
  std::mutex mutex_;  // guards the members below
  std::condition_variable changed_;
  bool done_ = false;
  bool fresh_ = false;
  std::optional<std::pair<std::string, double>> latest_;
};

// --- Commands ---

/// Calls a command of `tutti` in this process. The Python package converts the returned dictionary
/// to its own types.
py::dict run_command(const std::vector<std::string>& words,
                     std::map<std::string, std::string> scenarios, bool record,
                     const std::string& program, const std::string& folder, py::object progress) {
  if (!words.empty() && (words.front() == "view" || words.front() == "worker"))
    throw py::value_error(
        "view and worker replace the process, so they cannot be called from Python");
  Course course(std::move(progress));
  const auto recording = record ? std::make_shared<Recording>() : nullptr;
  tools::Capture capture;
  capture.scenarios = std::move(scenarios);
  capture.cancel = &course.cancel();
  capture.progress = [&](std::string_view what, double share) { course.update(what, share); };
  capture.timeline = recording.get();
  capture.program = program;
  int status = tools::kWrongRequest;
  course.run([&] {
    const tools::Capturing capturing(capture);
    tools::CommandLine command;
    if (const auto ended = command.parse(words)) {
      status = *ended;
    } else {
      status = command.run(tools::Environment{core::Library(folder)});
    }
  });
  py::list errors;
  for (const core::Error& error : capture.errors) {
    const char* const kind = error.kind() == core::ErrorKind::kRun ? "run" : "request";
    errors.append(py::make_tuple(kind, problems_of(error)));
  }
  py::dict result;
  result["status"] = status;
  result["out"] = capture.out;
  result["messages"] = capture.messages;
  result["errors"] = errors;
  // If the run was rejected, there is no recording.
  result["recording"] = recording && recording->spans() ? py::cast(recording) : py::none();
  result["exception"] = course.take_exception();
  return result;
}

/// Reads and checks a scenario; returns facts about it.
py::dict check_scenario(const std::string& text, const std::string& path,
                        const std::string& folder) {
  core::Expected<core::Scenario> scenario = [&] {
    const py::gil_scoped_release release;
    return core::read_scenario(text, path, core::Library(folder), {});
  }();
  if (!scenario) raise(scenario.error());
  py::dict facts;
  facts["name"] = scenario->name;
  facts["description"] = scenario->description;
  facts["cluster"] = core::describe(*scenario->cluster);
  facts["workload"] = scenario->workload.name;
  facts["strategy"] = core::describe(scenario->strategy);
  facts["packs"] = scenario->plan.packs.size();
  facts["gradient_bytes"] = scenario->workload.bytes().count();
  return facts;
}

// --- Tables ---

/// Returns a column's memory as an array, without copying. The array keeps the column's memory
/// alive.
py::object array_of(const std::shared_ptr<const Table>& table, const std::string& name) {
  const Column* const column = table->find(name);
  if (column == nullptr) throw py::key_error(name);
  if (const auto* const texts = std::get_if<Texts>(&column->values)) {
    py::list list;
    for (std::size_t i = 0; i < texts->size(); ++i)
      list.append(py::str(texts->at(i).data(), texts->at(i).size()));
    return py::module_::import("numpy").attr("array")(list, py::arg("dtype") = py::dtype("O"));
  }
  const py::capsule owner(new std::shared_ptr<const Table>(table), [](void* held) {
    delete static_cast<std::shared_ptr<const Table>*>(held);
  });
  return std::visit(
      [&](const auto& values) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(values)>, Texts>) {
          return py::none();
        } else {
          py::array array(py::dtype::of<typename std::decay_t<decltype(values)>::value_type>(),
                          {values.size()}, {}, values.data(), owner);
          array.attr("setflags")(py::arg("write") = false);
          return array;
        }
      },
      column->values);
}

void release_capsule(PyObject* capsule) {
  auto* const stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
  if (stream == nullptr) return;
  if (stream->release) stream->release(stream);
  delete stream;
}

py::object stream_of(const std::shared_ptr<const Table>& table) {
  auto stream = std::make_unique<ArrowArrayStream>();
  export_stream(table, stream.get());
  PyObject* const capsule = PyCapsule_New(stream.get(), "arrow_array_stream", release_capsule);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw py::error_already_set();
  }
  static_cast<void>(stream.release());
  return py::reinterpret_steal<py::object>(capsule);
}

// --- Recordings ---

std::shared_ptr<Recording> open_timeline(const std::string& path) {
  core::Expected<std::shared_ptr<Recording>> recording = [&] {
    const py::gil_scoped_release release;
    return read_recording(path);
  }();
  return value_or_raise(std::move(recording));
}

core::TimelineReader reader_of(const Recording& recording) {
  core::Expected<core::TimelineReader> reader = [&] {
    const py::gil_scoped_release release;
    return recording.reader();
  }();
  return value_or_raise(std::move(reader));
}

/// Writes a recording to a file, as a timeline or in a format of `tutti export`.
void save(const Recording& recording, const std::string& path, const std::string& to,
          const std::string& table) {
  const auto saved = [&]() -> core::Expected<void> {
    const py::gil_scoped_release release;
    auto file = tools::OutputFile::create(path, {}, to == "tutti" ? core::kTimelineMagic : "");
    if (!file) return tl::make_unexpected(file.error());
    if (to == "tutti") {
      core::TimelineWriter writer(file->stream());
      recording.replay(writer);
      return file->keep();
    }
    const auto reader = recording.reader();
    if (!reader) return tl::make_unexpected(reader.error());
    core::Expected<void> written;
    if (to == "perfetto") {
      written = core::export_perfetto(*reader, file->stream());
    } else if (to == "csv") {
      const auto content = core::parse_csv_content(table);
      if (!content)
        return tl::make_unexpected(core::Error::request(
            {core::ProblemCode::kUnknownName, "table"},
            "table: expected one of spans, packs, steps, links, path (got " + table + ")"));
      written = core::export_csv(*reader, *content, file->stream());
    } else {
      const auto picture = core::export_svg(*reader);
      if (!picture) return tl::make_unexpected(picture.error());
      file->stream() << *picture;
    }
    return written ? file->keep() : written;
  }();
  if (!saved) raise(saved.error());
}

std::string compare_recordings(const Recording& a, const Recording& b) {
  const core::TimelineReader first = reader_of(a);
  const core::TimelineReader second = reader_of(b);
  core::Expected<core::Comparison> comparison = [&] {
    const py::gil_scoped_release release;
    return core::compare(first, second);
  }();
  return tools::result_json(tools::comparison_report(value_or_raise(std::move(comparison))));
}

/// Formats times in microseconds, as core::show_distinct().
std::vector<std::string> show_distinct(const std::vector<double>& us) {
  constexpr double kMax = 9e18;  // picoseconds; fits into 64 bits
  std::vector<core::Time> times;
  for (const double one : us) {
    if (std::isnan(one)) throw py::value_error("a time is not a number");
    times.emplace_back(std::llround(std::clamp(one * 1e6, -kMax, kMax)));
  }
  return core::show_distinct(times);
}

}  // namespace

PYBIND11_MODULE(_core, m) {
  m.doc() = "The compiled part of the Python package tutti.";
  m.attr("__version__") = std::string(core::version());
  m.def("library_folder", &core::library_folder,
        "Returns the folder with the shipped machines, models and algorithms.");
  m.def("run_command", &run_command, py::arg("words"), py::arg("scenarios"), py::arg("record"),
        py::arg("program"), py::arg("folder"), py::arg("progress"));
  m.def("check_scenario", &check_scenario, py::arg("text"), py::arg("path"), py::arg("folder"));
  m.def(
      "field_state",
      [](const std::string& text, const std::string& path) {
        const FieldState state = value_or_raise(field_state(text, path));
        py::dict result;
        result["kind"] = state.kind;
        result["repeated"] = state.repeated;
        result["written"] = state.written;
        result["count"] = state.count;
        result["value"] = state.value;
        result["converted"] = state.converted;
        result["help"] = state.help;
        result["default"] = state.otherwise;
        result["unit"] = state.unit;
        result["choices"] = state.choices;
        result["fields"] = state.fields;
        return result;
      },
      py::arg("text"), py::arg("path"));
  m.def(
      "with_field",
      [](const std::string& text, const std::string& path, const std::string& value) {
        return value_or_raise(with_field(text, path, value));
      },
      py::arg("text"), py::arg("path"), py::arg("value"));
  m.def("old_form_warning", &core::old_form_warning, py::arg("text"), py::arg("path"));
  m.def(
      "sweep_table",
      [](const std::string& path) {
        core::Expected<SweepTable> sweep = [&] {
          const py::gil_scoped_release release;
          return read_sweep(path);
        }();
        SweepTable read = value_or_raise(std::move(sweep));
        return py::make_tuple(std::make_shared<Table>(std::move(read.points)), read.fields);
      },
      py::arg("path"));
  m.def("show_distinct", &show_distinct, py::arg("us"));
  m.def(
      "show_exact", [](std::int64_t bytes) { return core::show_exact(core::Bytes(bytes)); },
      py::arg("bytes"));
  m.def("open_timeline", &open_timeline, py::arg("path"));
  m.def("compare_recordings", &compare_recordings, py::arg("first"), py::arg("second"));

  py::class_<Table, std::shared_ptr<Table>>(m, "Table")
      .def("__len__", &Table::rows)
      .def_property_readonly("columns",
                             [](const Table& table) {
                               std::vector<std::string> names;
                               for (const Column& c : table.columns()) names.push_back(c.name);
                               return names;
                             })
      .def("array", [](const std::shared_ptr<Table>& table,
                       const std::string& name) { return array_of(table, name); })
      .def("categories",
           [](const Table& table, const std::string& name) {
             const Column* const column = table.find(name);
             if (column == nullptr) throw py::key_error(name);
             return column->categories;
           })
      .def(
          "__arrow_c_stream__",
          [](const std::shared_ptr<Table>& table, const py::object&) { return stream_of(table); },
          py::arg("requested_schema") = py::none());

  py::class_<Recording, std::shared_ptr<Recording>>(m, "Recording")
      .def_property_readonly("span_count", &Recording::span_count)
      .def_property_readonly("scenario", [](const Recording& r) { return r.run().scenario; })
      .def_property_readonly("scenario_text",
                             [](const Recording& r) { return r.run().scenario_text; })
      .def_property_readonly("scenario_file",
                             [](const Recording& r) { return r.run().scenario_file; })
      .def_property_readonly("executor", [](const Recording& r) { return r.run().executor; })
      .def_property_readonly("cluster", [](const Recording& r) { return r.run().cluster; })
      .def_property_readonly("workload", [](const Recording& r) { return r.run().workload; })
      .def_property_readonly("strategy", [](const Recording& r) { return r.run().strategy; })
      .def_property_readonly("notes", [](const Recording& r) { return r.run().notes; })
      .def("spans", [](const Recording& r) { return std::const_pointer_cast<Table>(r.spans()); })
      .def("tracks", [](const Recording& r) { return std::make_shared<Table>(r.tracks()); })
      .def("steps", [](const Recording& r) { return std::make_shared<Table>(r.steps()); })
      .def("packs", [](const Recording& r) { return std::make_shared<Table>(r.packs()); })
      .def("links", [](const Recording& r) { return std::make_shared<Table>(r.links()); })
      .def("path", [](const Recording& r) { return std::make_shared<Table>(r.path()); })
      .def("messages", [](const Recording& r) { return std::make_shared<Table>(r.messages()); })
      .def("report",
           [](const Recording& r) {
             core::Summary summary;
             r.replay_records(summary);
             return tools::result_json(tools::run_report(summary));
           })
      .def("svg",
           [](const Recording& r) {
             const core::TimelineReader reader = reader_of(r);
             return value_or_raise(core::export_svg(reader));
           })
      .def("save", &save, py::arg("path"), py::arg("to"), py::arg("table"));
}

}  // namespace tutti::python
