// tutti validate, which compares published tables with the predictions from their metadata.

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "tests/support/json.h"
#include "tests/tools/command_line.h"

namespace tutti {
namespace {

constexpr const char* kMeta = R"([
 {"table_id": "h100", "collective": "all_reduce", "n_ranks": 8, "nodes": 1, "gpus_per_node": 8, "gpu_model": "H100-SXM5",
  "intra_node": {"intra": "NVLink4+NVSwitch", "links_per_gpu": 18, "link_gbytes_dir": 25, "nvswitch": true},
  "inter_node": {"nics_per_node": 0, "nic_gbps": null, "nic_type": "none"}, "nccl_version": "2.28.9", "dtype": "float",
  "env": {}, "healthy": true, "system": "x", "outlier_sizes": [], "config": "h"},
 {"table_id": "amd", "collective": "all_reduce", "n_ranks": 8, "nodes": 1, "gpus_per_node": 8, "gpu_model": "MI300X",
  "nccl_version": "RCCL", "healthy": true, "config": "m"}])";

class Validate : public testing::Test {
 protected:
  Validate() {
    std::ofstream(path("meta.json")) << kMeta;
    std::ofstream(path("tables.csv"))
        << "table_id,size_bytes,time_us\nh100,1048576,30\nh100,67108864,300\namd,1024,9\n";
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return folder_.path() + "/" + name;
  }
  [[nodiscard]] std::vector<std::string> with(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"validate", "--tables", path("tables.csv"), "--meta",
                                    path("meta.json")};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Validate, PrintsErrorsAndReasonsAsJson) {
  const Outcome o = run_tutti(with({"--format", "json"}));
  ASSERT_EQ(o.status, 0) << o.err;
  const core::Value document = test::parse_or_throw(o.out, "out");
  const Data overall = Data(document)["overall"];
  EXPECT_EQ(overall["rows"].number(), 3);
  EXPECT_EQ(overall["modelled_rows"].number(), 2);
  const auto tables = Data(document)["tables"].items();
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0]["table_id"].text(), "h100");
  EXPECT_EQ(tables[0]["config"].text(), "h");
  EXPECT_EQ(tables[0]["rows"].number(), 2);
  EXPECT_TRUE(tables[0]["reason"].is_null());
  EXPECT_EQ(tables[0]["median_error"].real(), overall["median_error"].real());
  EXPECT_THAT(tables[1]["reason"].text(), HasSubstr("RCCL"));
  EXPECT_TRUE(tables[1]["median_error"].is_null());
  // The validated prediction must be that of tutti perf for the same machine.
  const Outcome perf = run_tutti(
      {"perf", "--cluster", "hgx-h100", "-b", "1M", "-e", "64M", "-f", "64", "--format", "json"});
  const core::Value of_perf = test::parse_or_throw(perf.out, "perf");
  const auto rows = Data(of_perf)["rows"].items();
  const double first = rows[0]["time_us"].real() / 30 - 1,
               second = rows[1]["time_us"].real() / 300 - 1;
  EXPECT_NEAR(overall["bias"].real(), (first + second) / 2, 1e-9);
  const auto inside = [](const Data& row, double us) {
    return row["time_low_us"].real() <= us && us <= row["time_high_us"].real() ? 0.5 : 0;
  };
  const auto width = [](const Data& row) {
    return row["time_high_us"].real() / row["time_low_us"].real();
  };
  const auto score = [&](const Data& row, double us) {
    const double beyond = std::max(
        {0.0, std::log(row["time_low_us"].real() / us), std::log(us / row["time_high_us"].real())});
    return std::log(width(row)) + 10 * beyond;
  };
  for (const Data& of : {overall, tables[0]}) {
    EXPECT_EQ(of["coverage"].real(), inside(rows[0], 30) + inside(rows[1], 300));
    // The narrower band of the two rows counts, because at least half of the total weight has at
    // most that width.
    EXPECT_NEAR(of["band_width"].real(), std::min(width(rows[0]), width(rows[1])), 1e-6);
    EXPECT_NEAR(of["interval_score"].real(), (score(rows[0], 30) + score(rows[1], 300)) / 2, 1e-6);
  }
  EXPECT_TRUE(tables[1]["coverage"].is_null());
  EXPECT_TRUE(tables[1]["band_width"].is_null());
  EXPECT_TRUE(tables[1]["interval_score"].is_null());
}

TEST_F(Validate, InvalidMetadataExcludesATableWithAReason) {
  const std::string meta = kMeta;
  for (const auto& [good, bad, why] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"\"dtype\": \"float\"", "\"dtype\": \"complex\"", "\"complex\""},
           {"\"env\": {}", "\"env\": \"NCCL_ALGO=Tree\"", "env: "},
           {"\"nodes\": 1,", "\"nodes\": 1.5,", "nodes: "},
           {"\"outlier_sizes\": []", "\"outlier_sizes\": [\"1e\"]", "outlier_sizes: "},
           {"\"outlier_sizes\": []", "\"outlier_sizes\": \"x\"", "outlier_sizes: "}}) {
    std::string broken = meta;
    broken.replace(broken.find(good), good.size(), bad);
    std::ofstream(path("meta.json")) << broken;
    const core::Value document =
        test::parse_or_throw(run_tutti(with({"--format", "json"})).out, "out");
    const Data table = Data(document)["tables"].items()[0];
    EXPECT_TRUE(table["median_error"].is_null()) << bad;
    EXPECT_THAT(table["reason"].text(), HasSubstr(why));
  }
}

TEST_F(Validate, TablesWithoutModelledRowsAreNotAnError) {
  std::ofstream(path("tables.csv")) << "table_id,size_bytes,time_us\namd,1024,9\n";
  const core::Value document =
      test::parse_or_throw(run_tutti(with({"--format", "json"})).out, "out");
  for (const char* name : {"median_error", "mean_error", "p90_error", "bias", "coverage",
                           "band_width", "interval_score"})
    EXPECT_TRUE(Data(document)["overall"][name].is_null()) << name;
  EXPECT_THAT(run_tutti(with()).out, AllOf(HasSubstr("–"), Not(HasSubstr("0.0 %"))));
}

TEST_F(Validate, PrintsTheNoiseFloorAndUnmodelledTables) {
  std::ofstream(path("noise.csv")) << "config,size_bytes,cv\n\"h|2.28.9|{}\",8,0.031\n";
  const Outcome o = run_tutti(with({"--noise", path("noise.csv")}));
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("in band  band width  score"), HasSubstr("3.1 %"),
                           HasSubstr("collective: all_reduce"), HasSubstr("GPU: H100-SXM5"),
                           HasSubstr("2 of 3 rows"), HasSubstr("(1 table):\n  amd")));
}

TEST_F(Validate, DrawsAPlotOfEveryTable) {
  const Outcome o = run_tutti(with({"--report", path("plots.html")}));
  ASSERT_EQ(o.status, 0) << o.err;
  std::stringstream page;
  page << std::ifstream(path("plots.html")).rdbuf();
  EXPECT_THAT(page.str(),
              AllOf(HasSubstr("<polyline"), HasSubstr("<b>h100</b>"), HasSubstr("<b>amd</b>"),
                    HasSubstr("<th>in band</th><th>band width</th><th>interval score</th>"),
                    HasSubstr("</html>")));
}

TEST_F(Validate, WrongRequestsAreRefused) {
  expect_refused(with({"--format", "yaml"}), folder_, HasSubstr("--format yaml"));
  expect_refused({"validate", "--tables", "none.csv", "--meta", path("meta.json")}, folder_,
                 {.code = ProblemCode::kMissing, .file = "none.csv"});
  expect_refused(with({"--times", path("tables.csv")}), folder_,
                 {ProblemCode::kMissing, "name", 1, 1, path("tables.csv")});
  expect_refused(with({"--report", path("meta.json")}), folder_,
                 {.code = ProblemCode::kConflict, .file = path("meta.json")});
}

}  // namespace
}  // namespace tutti
