#include "ranks.hpp"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "symm_mem/exchange_unix.hpp"

namespace symm_mem::test {
namespace {

// The child's side: never returns, so that no state of the test program is used twice.
[[noreturn]] void be_rank(const std::string& directory, int rank, int size, const RankBody& body,
                          int report) {
  Complaints complaints;
  {
    auto exchange = open_unix_exchange(directory, rank, size);
    if (exchange) {
      body(*exchange.value(), complaints);
    } else {
      complaints.push_back(exchange.error().call + ": " + exchange.error().text);
    }
  }
  for (const std::string& each : complaints) {
    const std::string line = "rank " + std::to_string(rank) + ": " + each + "\n";
    if (::write(report, line.data(), line.size()) < 0) ::_exit(2);
  }
  ::_exit(complaints.empty() ? 0 : 1);
}

}  // namespace

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "symm-mem-test-XXXXXX").string();
  path_ = ::mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

TemporaryDirectory::~TemporaryDirectory() {
  if (path_.empty()) return;
  // A process that is about to end may be removing its own files there.
  std::error_code error;
  for (int tries = 0; tries < 100; ++tries) {
    std::filesystem::remove_all(path_, error);
    if (!std::filesystem::exists(path_, error)) return;
    ::usleep(10000);
  }
}

Complaints run_ranks(int size, const RankBody& body) {
  const TemporaryDirectory directory;
  return run_ranks_in(directory.path(), size, body);
}

Complaints run_ranks_in(const std::string& directory, int size, const RankBody& body) {
  int report[2];
  if (::pipe(report) != 0) return {"pipe failed"};
  std::fflush(nullptr);
  std::vector<pid_t> children;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(report[0]);
      be_rank(directory, rank, size, body, report[1]);
    }
    children.push_back(child);
  }
  ::close(report[1]);

  std::string text;
  char chunk[4096];
  for (ssize_t got = 0; (got = ::read(report[0], chunk, sizeof(chunk))) > 0;) {
    text.append(chunk, static_cast<std::size_t>(got));
  }
  ::close(report[0]);

  Complaints complaints;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    complaints.push_back(text.substr(at, end - at));
  }
  for (int rank = 0; rank < size; ++rank) {
    int status = 0;
    const pid_t child = children[static_cast<std::size_t>(rank)];
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) > 1) {
      complaints.push_back("rank " + std::to_string(rank) + ": did not end by itself, status " +
                           std::to_string(status));
    }
  }
  return complaints;
}

}  // namespace symm_mem::test
