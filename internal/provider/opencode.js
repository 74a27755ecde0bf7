// berth gives this plugin to the opencode it starts, by OPENCODE_CONFIG_CONTENT. It
// drops announcements into the run's inbox (docs/formats.md) and changes nothing.
import fs from "node:fs";
import path from "node:path";

const run = process.env.BERTH_RUN_DIR;
// An opencode that runs inside another has that one's environment: it is no part of
// this run.
const nested = process.env.OPENCODE_PID && Number(process.env.OPENCODE_PID) !== process.pid;

let count = 0;
function announce(what) {
  const name = `${String(Date.now()).padStart(14, "0")}000000-${process.pid}-${String(++count).padStart(9, "0")}.json`;
  const temp = path.join(run, "inbox", `.tmp-${name}`);
  try {
    fs.writeFileSync(temp, JSON.stringify({ schema_version: 1, source: "plugin", at: new Date().toISOString(), ...what }), { mode: 0o600 });
    fs.renameSync(temp, path.join(run, "inbox", name));
  } catch {} // never the agent's trouble
}

const children = new Set(); // sessions of subagents
const messages = new Set(); // the person's
const started = Date.now();
let conversation, turn;

function say(id, state, waiting) {
  if (!id || children.has(id)) return;
  if (id === conversation && state === turn) return;
  conversation = id;
  turn = state;
  announce({ native_id: id, recorded: true, turn: state, waiting_for: waiting });
}

export const Berth = async () =>
  !run || nested
    ? {}
    : {
        event: async ({ event }) => {
          const p = event.properties ?? {};
          const id = p.sessionID ?? p.info?.sessionID ?? p.info?.id;
          switch (event.type) {
            case "session.created":
              if (p.info?.parentID) children.add(p.info.id);
              else say(p.info?.id ?? id, "busy");
              break;
            case "message.updated": // the first sign that a message was taken; later ones are about the same
              if (p.info?.role === "user" && !messages.has(p.info.id)) {
                messages.add(p.info.id);
                if (p.info.time?.created > started) say(id, "busy");
              }
              break;
            case "session.status":
              say(id, p.status?.type === "idle" ? "idle" : "busy");
              break;
            case "session.idle":
              say(id, "idle");
              break;
            case "permission.asked":
            case "permission.updated":
            case "question.asked":
              say(id, "waiting", event.type.startsWith("question") ? "an answer" : "an approval");
              break;
            case "permission.replied":
            case "question.replied":
            case "question.rejected":
              say(id, "busy");
              break;
          }
        },
      };
