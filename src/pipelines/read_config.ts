/**
 * Reads a configuration: a short one here, for nothing is quicker; what is longer, or turns out to be more work than it
 * looks, in a thread of its own, so that nobody else waits for it.
 */
import { type Program, programPath } from '../apart/program.ts';
import { TooMuch, runApart } from '../apart/threads.ts';
import type { Source } from '../ci_file/compile.ts';
import type { Fetched, Handle, Question, ReadTask } from '../ci_file/questions.ts';
import type { ReadAll, Wish } from '../ci_file/read_all.ts';

const program: Program = {
  path: programPath(import.meta, '../ci_file/thread.ts', 'ci_file_thread'),
  longest: 10_000,
  memory: 256,
};

type Given = Omit<Source, 'limits'>;

/** Origins stay here: the thread has numbers for them. */
const makeHandles = (first: unknown) => {
  const known: unknown[] = [null];
  const handleOf = (origin: unknown): Handle => {
    const at = origin === null ? 0 : known.indexOf(origin);
    return at >= 0 ? at : known.push(origin) - 1;
  };
  return { first: handleOf(first), handleOf, originOf: (handle: Handle): unknown => known[handle] ?? null };
};

const answerTo = ({ fetch, conditions }: Given, handles: ReturnType<typeof makeHandles>) => {
  const fetched = async ({ wanted, origin }: Extract<Question, { ask: 'fetch' }>): Promise<Fetched> => {
    const found = await fetch(wanted, handles.originOf(origin));
    if ('problem' in found) return found;
    return { files: found.files.map((file) => ({ ...file, origin: handles.handleOf(file.origin) })) };
  };
  return async (sent: unknown): Promise<unknown> => {
    const question = sent as Question;
    if (question.ask === 'fetch') return await fetched(question);
    if (question.ask === 'files') return (await conditions.files?.()) ?? [];
    return (await conditions.changed?.(question.compare_to)) ?? null;
  };
};

const tooMuch = 'The configuration takes too long to read, or too much memory';

const failed: ReadAll = {
  errors: [{ text: tooMuch, old_text: tooMuch, place: null }],
  warnings: [],
  includes: [],
  merged_yaml: null,
  planned: null,
  all: [],
  variables: [],
};

const readApart = async (given: Given, wish: Wish, owner: string): Promise<ReadAll> => {
  const { content, path, conditions } = given;
  const { files, changed, ...plain } = conditions;
  const handles = makeHandles(given.origin);
  const knows = { files: files !== undefined, changed: changed !== undefined };
  const task: ReadTask = { content, path, origin: handles.first, conditions: plain, knows, wish };
  try {
    return (await runApart(program, { owner, task, answer: answerTo(given, handles) })) as ReadAll;
  } catch (error) {
    if (error instanceof TooMuch) return failed;
    throw error;
  }
};

/**
 * What the configuration says, and what is wrong with it.
 * @param owner of whom no more than a few are read apart at once
 * @throws Failure 503 where too many wait
 */
export const readConfig = async (given: Given, wish: Wish, owner: string): Promise<ReadAll> => {
  const [{ readAll }, { TooHeavy, briefLimits }] = await Promise.all([
    import('../ci_file/read_all.ts'),
    import('../ci_file/limits.ts'),
  ]);
  if (given.content.length > briefLimits.text) return await readApart(given, wish, owner);
  try {
    return await readAll({ ...given, limits: briefLimits }, wish);
  } catch (error) {
    if (!(error instanceof TooHeavy)) throw error;
    return await readApart(given, wish, owner);
  }
};
