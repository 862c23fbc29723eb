#include "tools/tutti/options/complete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "core/scenario/library_folder.h"
#include "tools/tutti/command_line.h"
#include "tools/tutti/options/manual.h"
#include "tools/tutti/options/values.h"

namespace tutti::tools {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

Completions completions(const std::vector<std::string>& words) {
  const CommandLine command_line;
  return complete(command_line.app(), words, core::Library(core::library_folder()));
}

std::vector<std::string> words_for(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const auto& candidate : completions(words).candidates) found.push_back(candidate.word);
  return found;
}

TEST(Complete, CommandsAndSubcommands) {
  EXPECT_THAT(words_for({""}), IsSupersetOf({"simulate", "sweep", "perf", "completion"}));
  EXPECT_THAT(words_for({"s"}), ElementsAre("simulate", "sweep", "synthesize"));
  EXPECT_THAT(words_for({"import", "nccl-t"}), ElementsAre("nccl-topology"));
  EXPECT_THAT(words_for({"help", "s"}), ElementsAre("simulate", "sweep", "synthesize"));
  EXPECT_THAT(words_for({"manual", "sw"}), ElementsAre("sweep"));
}

TEST(Complete, OptionsOfTheCommand) {
  EXPECT_THAT(words_for({"simulate", "mine.textproto", "--net"}), ElementsAre("--network-model"));
  EXPECT_THAT(words_for({"worker", "--"}), Not(Contains("--child-of"))) << "hidden";
  EXPECT_THAT(completions({"tune", "--evalu"}).candidates.at(0).help, HasSubstr("settings"));
}

TEST(Complete, ChoicesOfAnOption) {
  EXPECT_THAT(words_for({"simulate", "--network-model", "f"}), ElementsAre("fifo", "fair"));
  EXPECT_THAT(words_for({"simulate", "--network-model=f"}),
              ElementsAre("--network-model=fifo", "--network-model=fair"));
  EXPECT_THAT(words_for({"run", "--backend", ""}), ElementsAre("tcp", "cuda", "nccl"));
  EXPECT_THAT(words_for({"perf", "-o", "a"}), ElementsAre("avg"));
  EXPECT_THAT(words_for({"perf", "-d", "bf"}), ElementsAre("bfloat16", "bf16"));
  EXPECT_THAT(words_for({"perf", "-d", ""}), Not(Contains("bf16")));
}

TEST(Complete, FilesByTheirEndings) {
  const Completions scenario = completions({"simulate", ""});
  EXPECT_TRUE(scenario.files);
  EXPECT_THAT(scenario.endings, ElementsAre("textproto", "json"));
  EXPECT_THAT(completions({"compare", "a.tutti", ""}).endings, Contains("tutti"));
  EXPECT_FALSE(completions({"export", "a.tutti", "b.tutti", ""}).files);
  EXPECT_THAT(completions({"calibrate", "a.textproto", "--run", "x.tutti", "--log", ""}).endings,
              Contains("txt"));
  EXPECT_TRUE(completions({"manual", "--folder", ""}).folders);
  EXPECT_EQ(completions({"simulate", "a"}).before_file, 0u);
  EXPECT_EQ(completions({"calibrate", "--log=a"}).before_file, 6u);
  const Completions of_field = completions({"simulate", "--set=strategy.custom.file=a"});
  EXPECT_EQ(of_field.before_file, std::string("--set=strategy.custom.file=").size());
  EXPECT_THAT(of_field.endings, Contains("tutti-algorithm"));
  EXPECT_EQ(to_text(of_field).substr(0, 9), "files 27 ");
  EXPECT_EQ(completions({"perf", "--algorithms", "größe.xml,a"}).before_file, 10u)
      << "characters, not bytes";
}

TEST(Complete, NamesOfMachinesModelsAndAlgorithms) {
  EXPECT_THAT(words_for({"init", "--machine", "dgx-"}), Contains("dgx-a100"));
  EXPECT_THAT(words_for({"init", "--model", "vgg"}), Contains("vgg16_torchvision"));
  EXPECT_THAT(words_for({"init", "--algorithm", "ri"}), Contains("ring"));
}

TEST(Complete, FieldsAfterSet) {
  EXPECT_THAT(words_for({"simulate", "--set", "strat"}), ElementsAre("strategy."));
  EXPECT_THAT(words_for({"simulate", "--set", "strategy.sh"}), Contains("strategy.shards="));
  EXPECT_THAT(words_for({"simulate", "--set", "cluster.workers[1].mach"}),
              ElementsAre("cluster.workers[1].machine="));
  EXPECT_THAT(words_for({"simulate", "--set", "cluster.workers.machine=dgx1"}),
              Contains("cluster.workers.machine=dgx1-v100"));
  EXPECT_THAT(words_for({"simulate", "--set", "cluster.network.kind=R"}),
              ElementsAre("cluster.network.kind=RAILS"));
  EXPECT_THAT(words_for({"simulate", "--set", "strategy.custom.file=sw"}),
              ElementsAre("strategy.custom.file=swing"));
  EXPECT_THAT(words_for({"sweep", "a.textproto", "--over", "strategy.algorithm=ring,nc"}),
              Contains("strategy.algorithm=ring,nccl"));
  EXPECT_THAT(words_for({"sweep", "a.textproto", "--over", "strategy=ring,horo"}),
              ElementsAre("strategy=ring,horovod"));
  EXPECT_THAT(words_for({"simulate", "--set", "strategy=ri"}), ElementsAre());
  EXPECT_THAT(words_for({"perf", "a.textproto", "--algorithms", "ring,sw"}),
              ElementsAre("ring,swing"));
  EXPECT_THAT(words_for({"sweep", "a.textproto", "--x", "run.st"}), Contains("run.steps"));
  EXPECT_THAT(words_for({"simulate", "--set", "nonsense.x"}), ElementsAre());
}

/// Calls `see` for every option that takes a value, of all commands.
void each_option(const CLI::App& app,
                 const std::function<void(const CLI::App&, const CLI::Option&)>& see) {
  for (const CLI::Option* option : app.get_options()) {
    if (takes_value(*option)) see(app, *option);
  }
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    each_option(*one, see);
}

TEST(OptionValues, EveryOptionDescribesItsValue) {
  const CommandLine command_line;
  each_option(command_line.app(), [](const CLI::App& command, const CLI::Option& option) {
    EXPECT_TRUE(value_of(command, option)) << command_name(command) << " " << option.get_name();
  });
}

TEST(Manual, PagesListEveryOption) {
  const CommandLine command_line;
  each_option(command_line.app(), [](const CLI::App& command, const CLI::Option& option) {
    if (option.get_group().empty() || option.get_lnames().empty()) return;
    std::string name = option.get_lnames().front();
    for (std::size_t dash = 0; (dash = name.find('-', dash)) != std::string::npos; dash += 2)
      name.insert(dash, "\\");
    EXPECT_THAT(manual_page(command), HasSubstr("\\-\\-" + name)) << command_name(command);
  });
}

TEST(Manual, LinesThatBeginWithADotAreEscaped) {
  const CommandLine command_line;
  const std::string page = manual_page(command_line.app());
  EXPECT_THAT(page, HasSubstr(".SH COMMANDS"));
  EXPECT_THAT(page, HasSubstr(".BR tutti\\-simulate (1)"));
}

}  // namespace
}  // namespace tutti::tools
