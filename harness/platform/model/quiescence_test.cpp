#include "harness/platform/model/quiescence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace symmcts::platform {
namespace {

class QuiescenceTest : public ::testing::Test {
 protected:
  QuiescenceTest() {
    for (const ClientId client : {a_, b_}) {
      quiescence_.attach(client);
      quiescence_.declare_managed(client);
    }
  }
  void stuck(ClientId client, Ns next = kNever, Ns deadline = kNever, bool in_call = false) {
    quiescence_.report_stuck(client, {next, deadline, "exchange", in_call}, seen_[client]);
  }
  void exchanges(ClientId client, Ns next) {
    quiescence_.report_stuck(client, {next, kNever, "exchange", false, true}, seen_[client]);
  }
  std::optional<Move> next(bool hold = false) {
    const auto move = quiescence_.next(hold);
    const auto noticed = {Move::Kind::grant, Move::Kind::deadline, Move::Kind::look};
    if (move && std::find(noticed.begin(), noticed.end(), move->kind) != noticed.end()) {
      ++seen_[move->client];
    }
    return move;
  }

  ClientId a_ = client_id(0, 0), b_ = client_id(0, 1);
  std::map<ClientId, std::uint64_t> seen_;
  Quiescence quiescence_;
};

TEST_F(QuiescenceTest, NothingMovesWhileOneRuns) {
  stuck(a_, 100);
  EXPECT_FALSE(next());
}

TEST_F(QuiescenceTest, TheEarliestEventIsGrantedAndItsOwnerRuns) {
  stuck(a_, 200);
  stuck(b_, 100);
  const auto move = next();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::grant);
  EXPECT_EQ(move->client, b_);
  EXPECT_EQ(move->at, 100u);
  EXPECT_FALSE(next()) << "b runs until it reports again";
  stuck(b_, 300);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, TiesGoToTheLowerRankWhoeverReportedFirst) {
  stuck(b_, 100);
  stuck(a_, 100);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, AReceiverMayBeHeardBeforeTheSender) {
  quiescence_.message_in(b_, 1);
  stuck(b_, 200);
  stuck(a_, 100);
  EXPECT_FALSE(next()) << "what a sent has not been heard of yet";
  quiescence_.message_out(a_, 1);
  stuck(a_, 100);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, AMessageUnderWayKeepsTimeStill) {
  quiescence_.message_out(a_, 1);
  stuck(a_, 100);
  exchanges(b_, 200);
  EXPECT_FALSE(next()) << "it may reach b before 100";
  quiescence_.message_in(b_, 1);
  EXPECT_FALSE(next()) << "b has taken it in and runs";
  stuck(b_, 200);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, AMessageToOneThatDoesNotWaitForItKeepsNobody) {
  quiescence_.message_out(a_, 1);
  stuck(a_, 100);
  stuck(b_, 200);
  EXPECT_EQ(next()->client, a_) << "b takes it in when its device work is done";
}

TEST_F(QuiescenceTest, DeviceWorkThenHoldsThenDeadlines) {
  stuck(a_, 500, 50);
  stuck(b_, kNever, 60);
  EXPECT_EQ(next(true)->kind, Move::Kind::grant) << "even where a deadline is earlier";
  stuck(a_, kNever, 50);
  EXPECT_EQ(next(true)->kind, Move::Kind::open_hold);
  const auto move = next(false);
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::deadline);
  EXPECT_EQ(move->client, a_);
  EXPECT_EQ(move->at, 50u);
}

TEST_F(QuiescenceTest, ADeadlockIsSaidOnceUntilSomebodyMoves) {
  stuck(a_);
  stuck(b_);
  EXPECT_EQ(next()->kind, Move::Kind::deadlock);
  EXPECT_FALSE(next());
  stuck(a_);
  EXPECT_FALSE(next()) << "reporting again is no move";
  quiescence_.report_running(a_);
  stuck(a_);
  EXPECT_EQ(next()->kind, Move::Kind::deadlock);
}

TEST_F(QuiescenceTest, AReportThatOvertakesItsCallDoesNotCount) {
  stuck(a_, kNever, kNever, /*in_call=*/true);
  stuck(b_);
  EXPECT_FALSE(next()) << "the call may be answered at once";
  quiescence_.parked(a_);
  EXPECT_EQ(next()->kind, Move::Kind::deadlock);
  quiescence_.unparked(a_);
  EXPECT_FALSE(next()) << "answered: it runs";
}

TEST_F(QuiescenceTest, CallsAreServedInVirtualTimeWhoeverAskedFirst) {
  ASSERT_TRUE(quiescence_.takes_turns(b_));
  quiescence_.queued(b_, 200);
  stuck(b_, kNever, kNever, /*in_call=*/true);
  EXPECT_FALSE(next()) << "a runs and may call before 200";
  quiescence_.queued(a_, 100);
  stuck(a_, kNever, kNever, /*in_call=*/true);
  const auto first = next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, Move::Kind::serve);
  EXPECT_EQ(first->client, a_);
  EXPECT_EQ(first->at, 100u);
  quiescence_.answered(a_);
  EXPECT_FALSE(next()) << "a has its answer and runs";
  // A driver call may take several requests: the report of the first still holds.
  quiescence_.queued(a_, 150);
  EXPECT_EQ(next()->client, a_);
  quiescence_.answered(a_);
  quiescence_.report_running(a_);
  stuck(a_, 300);
  EXPECT_EQ(next()->client, b_);
}

TEST_F(QuiescenceTest, ACallWaitsForDeviceWorkThatIsNotLater) {
  quiescence_.queued(a_, 100);
  stuck(a_, 100, kNever, /*in_call=*/true);
  stuck(b_, 50);
  EXPECT_EQ(next()->client, b_);
  stuck(b_, 200);
  const auto own = next();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->kind, Move::Kind::grant);
  EXPECT_EQ(own->client, a_);
  stuck(a_, 400, kNever, /*in_call=*/true);
  EXPECT_EQ(next()->kind, Move::Kind::serve);
}

TEST_F(QuiescenceTest, ACallThatParksAfterItsTurnStaysStuck) {
  quiescence_.queued(a_, 100);
  stuck(a_, kNever, kNever, /*in_call=*/true);
  stuck(b_, 200);
  EXPECT_EQ(next()->kind, Move::Kind::serve);
  quiescence_.parked(a_);
  EXPECT_EQ(next()->client, b_);
}

TEST_F(QuiescenceTest, NobodyTakesTurnsAloneOrOnAnUnmanagedMachine) {
  quiescence_.detach(b_);
  EXPECT_FALSE(quiescence_.takes_turns(a_));
  quiescence_.expect(3);
  EXPECT_TRUE(quiescence_.takes_turns(a_)) << "one is still to come";
  const ClientId c = client_id(0, 2);
  quiescence_.attach(c);
  quiescence_.acts(c);
  EXPECT_FALSE(quiescence_.takes_turns(a_));
}

TEST_F(QuiescenceTest, AReportThatCrossedANoticeDoesNotCount) {
  quiescence_.noticed(a_);
  stuck(a_, 100);
  stuck(b_, 200);
  EXPECT_FALSE(next());
  ++seen_[a_];
  stuck(a_, 150);
  EXPECT_EQ(next()->at, 150u);
}

TEST_F(QuiescenceTest, TheDeadNoLongerCount) {
  stuck(a_, 100);
  quiescence_.detach(b_);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, AMessageToTheDeadKeepsNobody) {
  quiescence_.message_out(a_, 1);
  exchanges(a_, 100);
  quiescence_.detach(b_);
  EXPECT_EQ(next()->client, a_);
}

TEST_F(QuiescenceTest, MessagesThatDiedWithTheirSenderAreWrittenOff) {
  quiescence_.message_out(b_, 0);
  exchanges(a_, 100);
  EXPECT_FALSE(quiescence_.only_lost_messages()) << "it may still leave b";
  quiescence_.detach(b_);
  EXPECT_FALSE(next());
  EXPECT_TRUE(quiescence_.only_lost_messages());
  quiescence_.write_off();
  EXPECT_EQ(next()->client, a_);
  // One that arrives after all costs another look, no more.
  quiescence_.message_in(a_, 1);
  exchanges(a_, 200);
  EXPECT_FALSE(next());
  EXPECT_TRUE(quiescence_.only_lost_messages());
  quiescence_.write_off();
  EXPECT_EQ(next()->at, 200u);
}

TEST_F(QuiescenceTest, WhoWaitsInTheExchangeLooksAgainBeforeItsMessagesAreWrittenOff) {
  quiescence_.message_out(b_, 0);
  exchanges(a_, kNever);
  quiescence_.detach(b_);
  EXPECT_TRUE(quiescence_.only_lost_messages());
  EXPECT_FALSE(quiescence_.all_have_looked());
  EXPECT_THAT(quiescence_.look_again(), ::testing::ElementsAre(a_));
  EXPECT_FALSE(quiescence_.only_lost_messages()) << "a looks";
  ++seen_[a_];
  exchanges(a_, kNever);
  EXPECT_TRUE(quiescence_.only_lost_messages());
  EXPECT_TRUE(quiescence_.all_have_looked());
}

// A rank that comes to wait in the exchange after another has died finds the closed connection
// there: its deadline must not pass meanwhile.
TEST_F(QuiescenceTest, WhoComesToWaitAfterSomebodyHasLeftLooksBeforeItsDeadlinePasses) {
  quiescence_.detach(b_);
  EXPECT_THAT(quiescence_.look_again(), ::testing::IsEmpty()) << "a does not wait yet";
  stuck(a_, kNever, 700);
  auto move = next();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::look);
  EXPECT_EQ(move->client, a_);
  EXPECT_FALSE(next()) << "a looks";
  stuck(a_, kNever, 700);
  move = next();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::deadline);
}

// A rank that the scenario has stopped keeps nobody from moving, whatever its process still says.
TEST_F(QuiescenceTest, WhoIsStoppedIsNotWaitedFor) {
  stuck(b_, 50);
  quiescence_.report_running(b_);
  quiescence_.stopped(b_);
  stuck(a_, kNever, 700);
  const auto move = next();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::deadline);
  EXPECT_EQ(move->client, a_);
  quiescence_.report_stuck(b_, {100, kNever, "exchange", false}, 0);
  stuck(a_);
  EXPECT_EQ(next()->kind, Move::Kind::deadlock) << "no work of b is granted";
  EXPECT_EQ(quiescence_.stuck(b_)->where, "stopped by the scenario");
}

TEST_F(QuiescenceTest, WhereOnlyTheStoppedAreLeftThereIsNoDeadlock) {
  quiescence_.stopped(b_);
  quiescence_.detach(a_);
  EXPECT_FALSE(next());
}

TEST_F(QuiescenceTest, AMessageToOneThatIsStoppedKeepsNobody) {
  quiescence_.message_out(a_, 1);
  quiescence_.stopped(b_);
  stuck(a_, 300);
  EXPECT_EQ(next()->client, a_);
}

// A last resort would hide a standstill: it passes only where a rank was stopped.
TEST_F(QuiescenceTest, ALastResortPassesOnlyWhereSomebodyIsStopped) {
  Stuck waits{kNever, kLastResort, "exchange", false, true};
  waits.last_resort = true;
  quiescence_.report_stuck(a_, waits, 0);
  stuck(b_);
  EXPECT_EQ(next()->kind, Move::Kind::deadlock);
  quiescence_.report_running(b_);
  quiescence_.stopped(b_);
  const auto move = next();
  ASSERT_TRUE(move);
  EXPECT_EQ(move->kind, Move::Kind::deadline);
  EXPECT_EQ(move->at, kLastResort);
}

TEST_F(QuiescenceTest, ClientsThatAreExpectedCountAsRunning) {
  quiescence_.expect(3);
  stuck(a_, 100);
  stuck(b_, 100);
  EXPECT_FALSE(next());
  const ClientId c = client_id(0, 2);
  quiescence_.attach(c);
  quiescence_.declare_managed(c);
  EXPECT_FALSE(next());
  quiescence_.detach(c);
  EXPECT_TRUE(next()) << "came and left";
}

TEST_F(QuiescenceTest, OneUnmanagedClientEndsIt) {
  const ClientId c = client_id(0, 2);
  quiescence_.attach(c);
  stuck(a_, 100);
  stuck(b_, 100);
  EXPECT_FALSE(next()) << "it may yet declare itself";
  EXPECT_TRUE(quiescence_.deterministic());
  EXPECT_TRUE(quiescence_.acts(c));
  EXPECT_FALSE(quiescence_.acts(c));
  EXPECT_FALSE(quiescence_.deterministic());
  EXPECT_FALSE(next());
  quiescence_.detach(c);
  EXPECT_FALSE(quiescence_.deterministic()) << "what it did is done";
}

TEST_F(QuiescenceTest, DeclaredClientsAct) { EXPECT_FALSE(quiescence_.acts(a_)); }

}  // namespace
}  // namespace symmcts::platform
