#include "harness/recorder/tests/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

namespace symmcts::recorder {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

Ended run_program(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, const std::string& scratch) {
  const std::string log = scratch + "/stderr";
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = -1;
  Ended ended;
  const int failure = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) return ended;
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  std::ifstream file(log);
  ended.error.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return ended;
}

}  // namespace symmcts::recorder
