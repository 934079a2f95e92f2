/** How calls end, in a word and in a sentence; part of `text`. */

export const outcomes = {
    answered: ["Answered", "The application answered."],
    failed: ["Tool error", "The application answered that its tool failed."],
    unknown_tool: ["Unknown tool", "The application declares no such tool. Nothing was done."],
    offline: ["Offline", "The application was not connected. Nothing was done."],
    disconnected: ["Disconnected", "The connection ended after the call was sent. It may or may not have happened."],
    timeout: ["Timed out", "The application did not answer in time. It may or may not have happened."],
    unresponsive: ["Not responding", "The application looked frozen after the call was sent. It may or may not have happened."],
    declined: ["Denied", "You, or a rule of yours, said no. Nothing was done."],
    unanswered: ["Unanswered", "Nobody answered the question in time. Nothing was done."],
    unattended: ["Nobody to ask", "The app was ending, so nobody could be asked. Nothing was done."],
    changed: ["Changed", "The tool or its application changed while the call waited. Nothing was done."],
    paused: ["Paused", "Calls were paused. Nothing was done."],
    blocked: ["Blocked", "The application or the agent is blocked. Nothing was done."],
    busy: ["Too many", "Too many calls at once. Nothing was done."],
    cancelled: ["Withdrawn", "The agent went away or was revoked. If the call had been sent, it may have happened."],
    waiting: ["Waiting", "It waits for your answer."],
    running: ["Running", "It was sent to the application."],
};
