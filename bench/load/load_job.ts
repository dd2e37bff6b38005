/** The job of the load generator: the requests to send, and the answers that count. */
export type Job = {
  port: number;
  token: string;
  /** Requests, taken in turn. */
  requests: CheckedRequest[];
};

export type CheckedRequest = {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** JSON. `{n}` becomes a number that no other request of the run has. */
  body?: string;
  status: number;
  /** The ids of a list, in order. */
  ids?: number[];
  /** The iid of a single issue. */
  iid?: number;
  /** The answer's title is the one that was sent. */
  titleIsSent?: true;
};

export type Command =
  | { kind: 'closed'; job: Job; connections: number; seconds: number }
  | { kind: 'count'; job: Job; connections: number; requests: number }
  /** `countsWrong`: unexpected answers are counted instead of ending the measurement. */
  | { kind: 'open'; job: Job; rate: number; seconds: number; countsWrong?: true };

export type Outcome = {
  answered: number;
  /** Milliseconds, ascending; of an open loop from the time at which the request was due. */
  latencies: number[];
  /** The first few unexpected answers. */
  wrong: string[];
  wrongCount: number;
};
