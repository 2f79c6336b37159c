// Evidence of a real run (fixtures/evidence), altered in one place after the other: whatever is
// taken away, doubled, moved or broken, it is no longer judged as the evidence of a whole run.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <sstream>

#include "harness/evidence/load.hpp"
#include "harness/evidence/tests/temporary_folder.hpp"
#include "harness/judge/exit_code.hpp"
#include "harness/judge/judge.hpp"

namespace symmcts::judge {
namespace {

using evidence::TemporaryFolder;
using Lines = std::vector<std::string>;

const std::string kEvidence = SYMMCTS_SOURCE_DIR "/fixtures/evidence/copy-kind-gb200-nvl2/";
const std::vector<std::string> kFiles{"machine.jsonl", "rank-000000.jsonl", "rank-000001.jsonl"};

// With their newlines.
Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

class Altered : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& file : kFiles) {
      folder_.write(file, evidence::read_text(kEvidence + file));
    }
  }

  // "error: ..." or "exit N, M passes".
  std::string judged() const {
    const auto set = evidence::load({folder_.path()});
    if (!set) return "error: " + set.error();
    const Judgement got = judge::judge(set.value());
    const auto passes =
        std::count_if(got.verdicts.begin(), got.verdicts.end(),
                      [](const Verdict& verdict) { return verdict.status == VerdictStatus::pass; });
    return "exit " + std::to_string(exit_code(got)) + ", " + std::to_string(passes) + " passes";
  }

  // The change of one line at a time, in every file: each must be refused with a line that names
  // the file. `spares`: changes that leave an honest file, which is judged, but has no pass.
  void every_line(const std::function<bool(Lines&, std::size_t)>& change,
                  const std::function<bool(std::size_t line, std::size_t lines)>& spares = {}) {
    int changed = 0;
    for (const std::string& file : kFiles) {
      const std::string before = evidence::read_text(folder_.path(file));
      const Lines whole = lines_of(before);
      ASSERT_GE(whole.size(), 3u);
      for (std::size_t at = 0; at < whole.size(); ++at) {
        Lines lines = whole;
        if (!change(lines, at)) continue;
        ++changed;
        folder_.write(file, text_of(lines));
        const std::string got = judged();
        if (spares && spares(at, whole.size())) {
          EXPECT_EQ(got, "exit 5, 0 passes") << file << ":" << at + 1;
        } else {
          EXPECT_EQ(got.find("error: " + folder_.path(file) + ":"), 0u)
              << file << ":" << at + 1 << ": " << got;
        }
        EXPECT_EQ(got.find('\n'), std::string::npos);
      }
      folder_.write(file, before);
    }
    EXPECT_GT(changed, 100);
  }

  TemporaryFolder folder_;
};

bool is_last(std::size_t line, std::size_t lines) { return line + 1 == lines; }

TEST_F(Altered, AsItWasItPasses) { EXPECT_EQ(judged(), "exit 0, 5 passes"); }

// Without its last line a file is what a crash leaves.
TEST_F(Altered, ALineTakenAway) {
  every_line(
      [](Lines& lines, std::size_t at) {
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        return true;
      },
      is_last);
}

TEST_F(Altered, ALineThatIsThereTwice) {
  every_line([](Lines& lines, std::size_t at) {
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), lines[at]);
    return true;
  });
}

TEST_F(Altered, TwoLinesThatHaveChangedPlaces) {
  every_line([](Lines& lines, std::size_t at) {
    if (at + 1 == lines.size() || lines[at] == lines[at + 1]) return false;
    std::swap(lines[at], lines[at + 1]);
    return true;
  });
}

TEST_F(Altered, ALineCutInTheMiddle) {
  every_line([](Lines& lines, std::size_t at) {
    lines[at] = lines[at].substr(0, lines[at].size() / 2) + "\n";
    return true;
  });
}

// The file ends in the middle of a line: honest, but not whole. Of the header, nothing is left.
TEST_F(Altered, AFileThatEndsInTheMiddleOfALine) {
  every_line(
      [](Lines& lines, std::size_t at) {
        lines.resize(at + 1);
        lines[at] = lines[at].substr(0, lines[at].size() / 2);
        return at > 0;
      },
      [](std::size_t, std::size_t) { return true; });
}

TEST_F(Altered, GarbageBetweenTheLines) {
  for (const std::string& garbage : {std::string(1, '\0'), std::string(4096, '\0'), std::string(),
                                     std::string("{}"), std::string("\xff\xfe garbage")}) {
    every_line([&](Lines& lines, std::size_t at) {
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at), garbage + "\n");
      return true;
    });
  }
}

// One digit in each line, so that it is still good JSON: a size, a time, a copy kind's number.
TEST_F(Altered, ADigitThatIsAnother) {
  every_line([](Lines& lines, std::size_t at) {
    const std::size_t digit = lines[at].find_last_of("0123456789");
    if (digit == std::string::npos) return false;
    lines[at][digit] = lines[at][digit] == '1' ? '2' : '1';
    return true;
  });
}

TEST_F(Altered, AFileTakenAway) {
  std::filesystem::remove(folder_.path("rank-000001.jsonl"));
  EXPECT_EQ(judged(), "exit 5, 0 passes");
}

TEST_F(Altered, ARankThatIsThereTwice) {
  folder_.write("rank-000002.jsonl", evidence::read_text(folder_.path("rank-000000.jsonl")));
  EXPECT_EQ(judged().find("error: " + folder_.path("rank-000002.jsonl") + ": is rank 0 like"), 0u)
      << judged();
}

}  // namespace
}  // namespace symmcts::judge
