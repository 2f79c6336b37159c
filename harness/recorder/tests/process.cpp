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

Started start_program(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment, const std::string& scratch,
                      const std::string& name) {
  Started started;
  started.error_file = scratch + "/" + name + ".err";
  const std::string output = scratch + "/" + name + ".out";
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, started.error_file.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = -1;
  const int failure = posix_spawn(&child, arguments[0].c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) started.process = child;
  return started;
}

Ended wait_for(const Started& started) {
  Ended ended;
  int status = 0;
  if (started.process < 0 || waitpid(started.process, &status, 0) < 0) return ended;
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  std::ifstream file(started.error_file);
  ended.error.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return ended;
}

Ended run_program(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, const std::string& scratch) {
  return wait_for(start_program(command, environment, scratch, "program"));
}

}  // namespace symmcts::recorder
