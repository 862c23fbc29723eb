// Environment variables that launchers set (mpirun, srun, torchrun and others): the rank, the
// number of processes, and the address of rank 0 that they yield, and values that make no sense.

#include "real/join/launcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/problems.h"

namespace tutti::real {
namespace {

using test::FailsWith;
using test::Mistake;
using test::ProblemCode;
using testing::HasSubstr;
using Set = std::map<std::string, std::string>;

core::Expected<std::optional<Launch>> launch_in(const Set& set,
                                                std::optional<LauncherKind> only = {}) {
  return find_launch(
      [&](const std::string& name) -> std::optional<std::string> {
        const auto found = set.find(name);
        return found == set.end() ? std::nullopt : std::optional(found->second);
      },
      only);
}

Launch good(const Set& set) {
  const auto launch = launch_in(set);
  EXPECT_TRUE(launch && *launch) << (launch ? "nothing found" : launch.error().message());
  return launch && *launch ? **launch : Launch{};
}

Set tf_config(const std::string& text) { return {{"TF_CONFIG", text}}; }

TEST(Launcher, FindsNoLauncherIfNoVariablesAreSet) {
  const auto launch =
      launch_in({{"HOME", "/root"}, {"RANK", "3"}, {"TF_CONFIG", "{}"}, {"PMI_RANK", ""}});
  ASSERT_TRUE(launch);
  EXPECT_FALSE(*launch) << "RANK alone does not identify a launcher";
}

TEST(Launcher, TheChiefOfTfConfigIsRank0) {
  const std::string cluster =
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:2", "c:3"], "ps": ["d:4"]}, "task": )";
  const Launch chief = good(tf_config(cluster + R"({"type": "chief", "index": 0}})"));
  EXPECT_EQ(chief.launcher, LauncherKind::kTfConfig);
  EXPECT_EQ(chief.rank, 0);
  EXPECT_EQ(chief.size, 3);
  EXPECT_EQ(chief.address, (Address{"a", 1}));
  const Launch second = good(tf_config(cluster + R"({"type": "worker", "index": 1}})"));
  EXPECT_EQ(second.rank, 2);
  EXPECT_EQ(second.address, (Address{"a", 1}));
  EXPECT_EQ(good(tf_config(cluster + R"({"type": "worker", "index": "0"}})")).rank, 1)
      << "TensorFlow casts it";
}

TEST(Launcher, TheFirstWorkerOfTfConfigCoordinatesWithoutAChief) {
  const Launch first = good(tf_config(
      R"({"cluster": {"worker": {"1": "c:3", "0": "b:2"}}, "task": {"type": "worker", "index": 0}})"));
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.address, (Address{"b", 2}));
}

TEST(Launcher, AnInvalidTfConfigIsARequestError) {
  const auto error = [](const std::string& text) { return launch_in(tf_config(text)); };
  const std::string two = R"({"cluster": {"worker": ["a:1", "b:2"]})";
  EXPECT_THAT(error("{"), FailsWith(Mistake{ProblemCode::kSyntax, "", 1, 2, "TF_CONFIG"}));
  EXPECT_THAT(error("[1]"), FailsWith(Mistake{ProblemCode::kWrongType, "", 1, 1}));
  EXPECT_THAT(error(R"({"task": {"type": "worker", "index": 0}})"),
              FailsWith(Mistake{ProblemCode::kMissing, "cluster"}));
  EXPECT_THAT(error(two + "}"), FailsWith(Mistake{ProblemCode::kMissing, "task"}));
  EXPECT_THAT(error(two + R"(, "task": {"type": "worker", "index": 2}})"),
              FailsWith(Mistake{ProblemCode::kInvalid, "task"}));
  const std::string negative = two + R"(, "task": {"type": "worker", "index": -1}})";
  EXPECT_THAT(error(negative),
              FailsWith(test::at(negative, "-1", ProblemCode::kWrongType, "index")));
  EXPECT_THAT(error(two + R"(, "task": {"type": "chef", "index": 0}})"),
              FailsWith(Mistake{ProblemCode::kInvalid, "task"}));
  EXPECT_THAT(
      error(
          R"({"cluster": {"worker": ["a:1", "b:2"], "ps": ["c:3"]}, "task": {"type": "ps", "index": 0}})"),
      FailsWith(Mistake{ProblemCode::kUnused, "task"}));
  EXPECT_THAT(error(R"({"cluster": {"worker": ["a"]}, "task": {"type": "worker", "index": 0}})"),
              FailsWith(Mistake{ProblemCode::kWrongType, "cluster", 1, 25}));
  EXPECT_THAT(
      error(R"({"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}})"),
      FailsWith(Mistake{ProblemCode::kInvalid, "task"}));
}

TEST(Launcher, OpenMpi) {
  const Set set{{"OMPI_COMM_WORLD_RANK", "2"},
                {"OMPI_COMM_WORLD_SIZE", "4"},
                {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                {"PMIX_NAMESPACE", "1238564865"},
                {"SLURM_PROCID", "0"},
                {"SLURM_STEP_ID", "0"},
                {"SLURM_NTASKS", "1"}};
  const Launch launch = good(set);
  EXPECT_EQ(launch.launcher, LauncherKind::kOpenMpi)
      << "srun started mpirun's daemon, not this process";
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.size, 4);
  EXPECT_TRUE(launch.one_machine);
  EXPECT_FALSE(launch.address);
  EXPECT_EQ(launch.job, "openmpi-1238564865");
  Set two_machines = set;
  two_machines["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  EXPECT_FALSE(good(two_machines).one_machine);
}

TEST(Launcher, Mpich) {
  const Launch launch = good({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}});
  EXPECT_EQ(launch.launcher, LauncherKind::kMpich);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 3);
  EXPECT_TRUE(launch.one_machine);
  EXPECT_FALSE(good({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "1"}}).one_machine);
}

TEST(Launcher, TheFirstHostOfSlurmCoordinates) {
  const Set set{{"SLURM_PROCID", "3"},  {"SLURM_NTASKS", "8"},
                {"SLURM_STEP_ID", "0"}, {"SLURM_JOB_ID", "200505"},
                {"SLURM_NNODES", "4"},  {"SLURM_LAUNCH_NODE_IPADDR", "10.0.0.250"},
                {"PMI_RANK", "3"},      {"SLURM_JOB_NODELIST", "gnode[08-11,20],login1"}};
  const Launch launch = good(set);
  EXPECT_EQ(launch.launcher, LauncherKind::kSlurm) << "srun --mpi=pmi2 sets PMI_RANK as well";
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 8);
  EXPECT_FALSE(launch.one_machine);
  ASSERT_TRUE(launch.address);
  EXPECT_EQ(launch.address->host, "gnode08") << "srun may have been called on another machine";
  EXPECT_GE(launch.address->port, 20'000);
  EXPECT_LT(launch.address->port, 30'000);
  Set other = set;
  other["SLURM_PROCID"] = "0";
  EXPECT_EQ(good(other).address, launch.address) << "the same for every rank";
  other["SLURM_STEP_NUM_TASKS"] = "2";
  EXPECT_EQ(good(other).size, 2) << "the step's tasks, not the job's";
  other["SLURM_NNODES"] = "1";
  EXPECT_TRUE(good(other).one_machine);
  other.erase("SLURM_JOB_NODELIST");
  EXPECT_EQ(good(other).address->host, "10.0.0.250");
}

TEST(Launcher, ABatchScriptOfSlurmIsNotALaunchedRank) {
  const auto launch =
      launch_in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "7"}});
  ASSERT_TRUE(launch);
  EXPECT_FALSE(*launch);
}

TEST(Launcher, HostListsOfSlurm) {
  EXPECT_EQ(first_host("node7"), "node7");
  EXPECT_EQ(first_host("a,b,c"), "a");
  EXPECT_EQ(first_host("node[003,7-9]"), "node003");
  EXPECT_EQ(first_host("rack[1-2]n4,x"), "rack1n4");
  for (const char* bad : {"", ",a", "node[", "node[]", "node[a-b]", "a b", "r[1-2]n[3-4]", "node]"})
    EXPECT_FALSE(first_host(bad)) << bad;
}

TEST(Launcher, DoesNotUseThePortThatTheAgentOfTorchrunUses) {
  Set set{{"RANK", "1"},
          {"WORLD_SIZE", "2"},
          {"MASTER_ADDR", "10.1.2.3"},
          {"MASTER_PORT", "29500"},
          {"LOCAL_WORLD_SIZE", "1"}};
  const Launch launch = good(set);
  EXPECT_EQ(launch.launcher, LauncherKind::kTorchrun);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_FALSE(launch.one_machine);
  EXPECT_EQ(launch.address, (Address{"10.1.2.3", 29500}));
  set["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(good(set).address, (Address{"10.1.2.3", 29501}));
  set["MASTER_PORT"] = "65535";
  EXPECT_EQ(good(set).address, (Address{"10.1.2.3", 65534}));
  set["LOCAL_WORLD_SIZE"] = "2";
  EXPECT_TRUE(good(set).one_machine);
}

TEST(Launcher, OneLaunchedProcessIsNotAGroup) {
  for (const Set& set :
       {Set{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"}},
        tf_config(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}})")}) {
    const auto launch = launch_in(set);
    ASSERT_TRUE(launch) << launch.error().message();
    EXPECT_FALSE(*launch);
  }
}

TEST(Launcher, ReportsInvalidNumbers) {
  EXPECT_THAT(launch_in({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              FailsWith(Mistake{ProblemCode::kWrongType, "OMPI_COMM_WORLD_RANK"}));
  EXPECT_THAT(launch_in({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
              FailsWith(Mistake{ProblemCode::kTooLarge, "OMPI_COMM_WORLD_RANK"}));
  EXPECT_THAT(launch_in({{"PMI_RANK", "0"}}),
              FailsWith(Mistake{ProblemCode::kMissing, "PMI_SIZE"}));
  EXPECT_THAT(launch_in({{"PMI_RANK", "0"}, {"PMI_SIZE", "99999999999999999999"}}),
              FailsWith(Mistake{ProblemCode::kWrongType, "PMI_SIZE"}));
  EXPECT_THAT(launch_in({}, LauncherKind::kTorchrun),
              FailsWith(Mistake{ProblemCode::kMissing, "MASTER_ADDR"}));
  EXPECT_THAT(launch_in({}, LauncherKind::kTfConfig),
              FailsWith(Mistake{ProblemCode::kMissing, "TF_CONFIG"}));
}

TEST(Launcher, NamesConvertBothWays) {
  for (const LauncherKind kind :
       {LauncherKind::kTfConfig, LauncherKind::kTorchrun, LauncherKind::kOpenMpi,
        LauncherKind::kMpich, LauncherKind::kSlurm}) {
    EXPECT_EQ(parse_launcher(to_string(kind)), kind);
    EXPECT_THAT(std::string(kLaunchers), HasSubstr(to_string(kind)));
  }
}

TEST(Address, IsAHostAndAPort) {
  EXPECT_EQ(parse_address("node1:80"), (Address{"node1", 80}));
  EXPECT_EQ(parse_address("0.0.0.0:0", true), (Address{"0.0.0.0", 0}));
  for (const char* bad : {"", "node1", ":80", "node1:", "node1:0", "node1:65536", "node1:8x",
                          "[::1]:80", "a b:1", "a:-1"})
    EXPECT_FALSE(parse_address(bad)) << bad;
}

}  // namespace
}  // namespace tutti::real
