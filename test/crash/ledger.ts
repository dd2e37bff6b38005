/**
 * A load of writes that records every response. Each issue has one writer, so its state after a crash is known: that
 * of the last acknowledged write, or of the pending one.
 */
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { call } from './process.ts';

/** Fields of an issue that the load changes. */
export type State = {
  title: string;
  description: string;
  state: 'opened' | 'closed';
  confidential: boolean;
  time_spent: number;
  notes: string[];
};

export type Entry = {
  project: number;
  iid: number;
  acknowledged: State;
  /** The state that a pending write would leave. */
  pending: State | null;
};

/** A creation without a response. */
export type Unanswered = { project: number; state: State };

export type Ledger = {
  entries: Entry[];
  unanswered: Unanswered[];
  /** Writes answered with 2xx. */
  acknowledged: number;
  /** Any other response; a test requires none. */
  refused: string[];
  /** Writes without a clear answer. */
  unclear: number;
  /** Statuses from 500 on, which leave open whether a write has happened. */
  unclearStatuses: Set<number>;
};

export const newLedger = (): Ledger => ({
  entries: [],
  unanswered: [],
  acknowledged: 0,
  refused: [],
  unclear: 0,
  unclearStatuses: new Set(),
});

/** The same numbers for the same seed. */
export const makeRandom = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

type Load = {
  url: string;
  projects: number[];
  ledger: Ledger;
  random: () => number;
  round: number;
  /**
   * The load goes on through outages until this is aborted: a write without an answer, or with a status from 500 on, may
   * have happened or not, and its issue is not written again. Without it, the load ends when the service is gone.
   */
  until?: AbortSignal;
  /** Called at each write without a clear answer. */
  onUnclear?: () => void;
};

/** Thrown where a write has no clear answer. */
class Unclear extends Error {}

const requireClear = ({ until, ledger }: Load, status: number): void => {
  if (until === undefined || status < 500) return;
  ledger.unclearStatuses.add(status);
  throw new Unclear();
};

type Change = { line: string; json: object; next: (now: State) => State };

const timeStep = 60;

/** One change of an issue; `name` is unique to the write. */
const changeOf = (random: () => number, path: string, name: string): Change => {
  const dice = random();
  if (dice < 0.3) {
    const [title, description] = [`${name} again`, `${name} `.repeat(20).trim()];
    return {
      line: `PUT ${path}`,
      json: { title, description },
      next: (now) => ({ ...now, title, description }),
    };
  }
  if (dice < 0.55) {
    return {
      line: `PUT ${path}`,
      json: { state_event: dice < 0.45 ? 'close' : 'reopen' },
      next: (now) => ({ ...now, state: dice < 0.45 ? 'closed' : 'opened' }),
    };
  }
  if (dice < 0.65) {
    const confidential = random() < 0.5;
    return { line: `PUT ${path}`, json: { confidential }, next: (now) => ({ ...now, confidential }) };
  }
  if (dice < 0.8) {
    const next = (now: State): State => ({ ...now, time_spent: now.time_spent + timeStep });
    return { line: `POST ${path}/add_spent_time`, json: { duration: '1m' }, next };
  }
  const body = `comment ${name}`;
  return {
    line: `POST ${path}/notes`,
    json: { body },
    next: (now) => ({ ...now, notes: [...now.notes, body] }),
  };
};

const create = async (load: Load, name: string): Promise<Entry | null> => {
  const { url, projects, ledger, random } = load;
  const project = projects[Math.floor(random() * projects.length)] ?? 0;
  const confidential = random() < 0.2;
  const attributes = { title: name, description: `of ${name}`, confidential };
  const state: State = { ...attributes, state: 'opened', time_spent: 0, notes: [] };
  const unanswered = { project, state };
  ledger.unanswered.push(unanswered);
  const { status, body } = await call(url, `POST /projects/${project}/issues`, {
    ...attributes,
    labels: 'load',
  });
  requireClear(load, status);
  ledger.unanswered.splice(ledger.unanswered.indexOf(unanswered), 1);
  if (status !== 201) {
    ledger.refused.push(`create: ${status} ${JSON.stringify(body)}`);
    return null;
  }
  ledger.acknowledged += 1;
  const entry = { project, iid: Number(body.iid), acknowledged: state, pending: null };
  ledger.entries.push(entry);
  return entry;
};

const change = async (load: Load, entry: Entry, name: string): Promise<void> => {
  const { url, ledger, random } = load;
  const { line, json, next } = changeOf(random, `/projects/${entry.project}/issues/${entry.iid}`, name);
  entry.pending = next(entry.acknowledged);
  const { status, body } = await call(url, line, json);
  requireClear(load, status);
  if (status >= 300) ledger.refused.push(`${line}: ${status} ${JSON.stringify(body)}`);
  else {
    ledger.acknowledged += 1;
    entry.acknowledged = entry.pending;
  }
  entry.pending = null;
};

/** Creates an issue or changes one of the writer's own; returns the writer's issues. */
const writeOnce = async (load: Load, own: Entry[], name: string): Promise<Entry[]> => {
  const chosen = own[Math.floor(load.random() * own.length)];
  if (chosen !== undefined && load.random() < 0.6) {
    await change(load, chosen, name);
    return own;
  }
  const entry = await create(load, name);
  return entry === null ? own : [entry, ...own].slice(0, 8);
};

/** Milliseconds before the next write after one without a clear answer. */
const pauseInOutage = 50;

/** Writes without pause until the service is gone, or as long as `until` says. */
const writer = async (load: Load, number: number): Promise<void> => {
  const { until, round } = load;
  let own: Entry[] = [];
  for (let count = 0; until?.aborted !== true; count += 1) {
    try {
      own = await writeOnce(load, own, `r${round} w${number} n${count}`);
    } catch {
      // The write stays pending.
      if (until === undefined) return;
      load.ledger.unclear += 1;
      load.onUnclear?.();
      own = [];
      await wait(pauseInOutage);
    }
  }
};

/** Runs many writers at once; resolves when the service is gone, or when `until` is aborted. */
export const runLoad = async (load: Load, writers: number): Promise<void> => {
  await Promise.all(Array.from({ length: writers }, (_one, number) => writer(load, number)));
};

const isSame = (left: State, right: State): boolean => {
  try {
    assert.deepEqual(left, right);
    return true;
  } catch {
    return false;
  }
};

/** Reads the issues of each project, in the fields of the load. */
export type Held = Map<number, Map<number, State>>;

/**
 * Compares the stored state with the recorded responses and adopts it as the new state.
 * @returns what is lost, doubled or changed
 */
export const settle = (ledger: Ledger, held: Held): string[] => {
  const faults: string[] = [];
  const known = new Set<State>();
  for (const entry of ledger.entries) {
    const found = held.get(entry.project)?.get(entry.iid);
    const where = `issue ${entry.iid} of project ${entry.project}`;
    if (found === undefined) {
      faults.push(`${where} is lost`);
      continue;
    }
    known.add(found);
    const mayBe = [entry.acknowledged, ...(entry.pending === null ? [] : [entry.pending])];
    if (!mayBe.some((state) => isSame(state, found))) {
      faults.push(`${where} is ${JSON.stringify(found)}, not ${JSON.stringify(mayBe)}`);
    }
    [entry.acknowledged, entry.pending] = [found, null];
  }
  for (const { project, state } of ledger.unanswered.splice(0)) {
    const found = [...(held.get(project) ?? [])].filter(([, one]) => one.title === state.title);
    if (found.length > 1) faults.push(`"${state.title}" is there ${found.length} times`);
    for (const [iid, one] of found) {
      known.add(one);
      if (!isSame(one, state)) faults.push(`"${state.title}" is ${JSON.stringify(one)}`);
      ledger.entries.push({ project, iid, acknowledged: one, pending: null });
    }
  }
  for (const [project, issues] of held) {
    for (const [iid, state] of issues) {
      if (!known.has(state))
        faults.push(`issue ${iid} of project ${project} is there, and nobody made it: ${state.title}`);
    }
  }
  return faults;
};
