/** Something to begin with, for the agents of the demo. Others are asked what they can do. */

const EXAMPLES: Record<string, string[]> = {
  assistant: [
    "I want my money back for A-1001",
    "What is the average price of your goods?",
    "Where is my desk lamp, A-1002?",
  ],
  "cv-screener": [
    "Who knows Postgres and Kubernetes?",
    "Who speaks Portuguese?",
    "Who works as a data engineer?",
  ],
  slow: ["Take your time"],
  tokens: ["As fast as you can"],
  device: ["Run the plan"],
};

const ABOUT: Record<string, string> = {
  assistant: "thinks, uses tools, asks before it pays",
  "cv-screener": "finds people in thirty CVs, with sources",
  slow: "takes its time: try Stop, or reload the page",
  tokens: "two hundred tokens, flat out",
  device: "a plan of five steps",
  literature: "finds made-up papers; takes tasks",
  retrieval: "finds what an answer rests on; takes tasks",
  policy: "says whether a text may be used; takes tasks",
  mara: "harbour master; talk to her in #pier",
  teo: "captain; talk to him in #pier",
  ilse: "sells tickets; talk to her in #pier",
  pip: "apprentice; mostly listens",
  nadia: "keeps the books; write to her",
  boro: "engineer; writes everything down",
};

export const examplesFor = (agent: string): string[] => EXAMPLES[agent] ?? ["What can you do?"];
export const aboutAgent = (agent: string): string | undefined => ABOUT[agent];

/** Those with an example first; the demo's best is the first of all. */
export function inOrder<T extends { id: string }>(agents: T[]): T[] {
  const known = Object.keys(EXAMPLES);
  const rank = ({ id }: T) => (known.includes(id) ? known.indexOf(id) : known.length);
  return [...agents].sort((one, other) => rank(one) - rank(other));
}
