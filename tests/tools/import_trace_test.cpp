// Imports traces and logs on the command line. Other commands must be able to read the results.

#include "tests/tools/command_line.h"

namespace tutti {
namespace {

std::string sample(const std::string& name) {
  return test::source_folder() + "/tests/data/traces/" + name;
}

Data report_of(core::Value& document, const std::vector<std::string>& words) {
  const Outcome o = run_tutti(test::with(words, {"--format", "json"}));
  EXPECT_EQ(o.status, 0) << o.err;
  document = test::parse_or_throw(o.out, "out");
  return Data(document);
}

TEST(ImportTrace, WhatIsWrittenIsSimulatedAndCompared) {
  const TemporaryFolder folder;
  const Outcome made =
      run_tutti({"import", sample("kineto_rank0.json"), sample("kineto_rank1.json"), "-o",
                 folder.file("measured.tutti"), "-o", folder.file("mine.textproto"), "-o",
                 folder.file("measured.log")});
  ASSERT_EQ(made.status, 0) << made.err;
  ASSERT_EQ(run_tutti({"simulate", folder.file("mine.textproto"), "--timeline",
                       folder.file("predicted.tutti")})
                .status,
            0);
  core::Value document;
  const Data report = report_of(
      document, {"compare", folder.file("predicted.tutti"), folder.file("measured.tutti")});
  // Both timelines have the same packs with the same gradients.
  EXPECT_EQ(report["packs"].items().size(), 2u);
  EXPECT_EQ(report["packs_of_first_only"].number(), 0);
  EXPECT_EQ(report["packs_of_second_only"].number(), 0);
  for (const char* to : {"perfetto", "csv", "svg"})
    EXPECT_EQ(run_tutti({"export", folder.file("measured.tutti"), "--to", to}).status, 0) << to;
}

TEST(ImportTrace, ReportsWhatWasUsed) {
  core::Value document;
  const Data report = report_of(document, {"import", "kineto", sample("kineto_rank0.json")});
  EXPECT_EQ(report["records"]["used"].number(), 68);
  EXPECT_EQ(report["records"]["unknown"].number(), 0);
  EXPECT_EQ(report["gradients"].number(), 4);
  EXPECT_EQ(report["packs"].items().size(), 2u);
  EXPECT_EQ(report["step_time_us"].number(), 2000);
  core::Value log;
  const Data choices = report_of(log, {"import", sample("nccl_2_24.log")});
  ASSERT_EQ(choices["choices"].items().size(), 2u);
  EXPECT_EQ(choices["choices"].items()[0]["protocol"].text(), "ll128");
}

TEST(ImportTrace, IsRefusedByCodeAndPlace) {
  const TemporaryFolder folder;
  const std::string trace = sample("kineto_rank0.json");
  expect_refused({"import", trace, "-o", folder.file("x.json")}, folder,
                 {ProblemCode::kUnknownName, "-o"});
  expect_refused({"import", folder.file("none.json")}, folder, {ProblemCode::kMissing});
  expect_refused({"import", folder.write("text.json", "hello")}, folder,
                 {ProblemCode::kUnsupported});
  expect_refused({"import", trace, sample("horovod.json")}, folder, {ProblemCode::kConflict});
  expect_refused({"import", trace, trace}, folder,
                 {ProblemCode::kDuplicate, "distributedInfo.rank"});
  expect_refused({"import", "kineto", sample("horovod_killed.json")}, folder,
                 {ProblemCode::kSyntax, "", 64, 21});
  expect_refused({"import", sample("kineto_rocm.json"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--machine"});
  expect_refused({"import", sample("kineto_old.json"), "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--model"});
  expect_refused(
      {"import", trace, "--model", "resnet50_torchvision", "-o", folder.file("x.textproto")},
      folder, {ProblemCode::kConflict, "--model"});
  expect_refused({"import", trace, "--nodes", "2", "-o", folder.file("x.textproto")}, folder,
                 {ProblemCode::kMissing, "--link"});
  expect_refused({"import", sample("nccl_2_24.log"), "-o", folder.file("x.tutti")}, folder,
                 {ProblemCode::kMissing});
  const std::string there = folder.write("x.tutti", "kept");
  expect_refused({"import", trace, "-o", there}, folder, {ProblemCode::kConflict, "-o"});
}

}  // namespace
}  // namespace tutti
