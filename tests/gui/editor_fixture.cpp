#include "tests/gui/editor_fixture.h"

#include <QDir>
#include <QPushButton>
#include <QSettings>
#include <QTimer>
#include <fstream>
#include <sstream>
#include <thread>

#include "gui/executors.h"
#include "tests/gui/window_hands.h"
#include "tests/support/clusters.h"
#include "tests/support/process.h"
#include "tests/support/shipped.h"

namespace tutti::gui {

std::string shipped(const std::string& name) {
  return test::source_folder() + "/scenarios/" + name + ".textproto";
}

std::string file_text(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  // Reads through the stream, because an istreambuf_iterator throws if a process of /proc ends
  // while its file is read.
  std::ostringstream read;
  read << stream.rdbuf();
  return read.str();
}

core::FieldPath path(std::initializer_list<core::PathStep> steps) { return steps; }

namespace {

/// Runs steps until it is stopped.
class Endless : public core::Executor {
 public:
  core::Expected<void> run(const core::Scenario& scenario, const core::RecordOptions&,
                           const core::RunControl& control, core::TimelineSink& sink) override {
    core::RunInfo info;
    info.scenario = scenario.name;
    sink.begin(info);
    for (std::int32_t step = 0; !control.cancel->load(); ++step) {
      core::StepRecord record;
      record.step = step;
      record.start = core::milliseconds(step);
      record.end = core::milliseconds(step + 1);
      sink.step(record);
      control.progress(0.25);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    sink.end();
    return {};
  }
};

class Failing : public core::Executor {
 public:
  core::Expected<void> run(const core::Scenario&, const core::RecordOptions&,
                           const core::RunControl&, core::TimelineSink&) override {
    return tl::make_unexpected(core::Error::run("worker 1 was ended by signal 9 (Killed)"));
  }
};

}  // namespace

Executors executors() {
  Executors made = make_executors(test::tutti_program());
  made.library = test::shipped_library();
  made.backends.push_back(
      {"endless", "Endless", "waiting", {}, [] { return std::make_unique<Endless>(); }});
  made.backends.push_back(
      {"failing", "Failing", "failing", {}, [] { return std::make_unique<Failing>(); }});
  made.backends.push_back({"none", "None", "", [] { return "it was never built"; }, {}});
  return made;
}

Editor::Editor() {
  QSettings().clear();
  make_window();
}

void Editor::make_window() {
  Executors made = executors();
  if (!examples_.empty()) made.library = core::Library(examples_);
  made.recovery_folder = recovery_folder();
  made.draw_examples = draws_examples_;
  window_ = std::make_unique<MainWindow>(made);
  QSignalSpy looked(&session().bar(), &RunBar::looked);
  QObject::connect(window_.get(), &MainWindow::opened, window_.get(), [this] { ++opened_; });
  QObject::connect(window_.get(), &MainWindow::failed, window_.get(), [this](const QString& why) {
    ++failed_;
    said_ = why.toStdString();
  });
  show_in_front(*window_);
  EXPECT_TRUE(!looked.isEmpty() || looked.wait(60'000));
}

void Editor::answer(QMessageBox::StandardButton button) {
  requested_ = false;
  auto* const look = new QTimer(window_.get());
  QObject::connect(look, &QTimer::timeout, window_.get(), [this, button, look] {
    auto* const box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
    if (!box) return;
    look->deleteLater();
    requested_ = true;
    box->button(button)->click();
  });
  look->start(1);
}

std::vector<std::string> Editor::run_folders() {
  std::vector<std::string> found;
  for (const QFileInfo& entry :
       QDir(QDir::tempPath()).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    if (!QDir(entry.absoluteFilePath()).entryList({QStringLiteral("*.tutti")}).isEmpty() &&
        entry.fileName().startsWith(QStringLiteral("window-")))
      found.push_back(entry.absoluteFilePath().toStdString());
  }
  return found;
}

}  // namespace tutti::gui
