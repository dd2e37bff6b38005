/**
 * Compiles a configuration: a short one in this thread, because that is fastest. One that is long or exceeds the step
 * limit is compiled in a worker thread, so that it does not block other requests.
 */
import { programPath } from '../../../platform/package_files.ts';
import type { Program } from '../../../platform/workers/program_path.ts';
import { WorkerLimitError, runInWorker } from '../../../platform/workers/run_in_worker.ts';
import type { Source } from '../../ci_file/compile.ts';
import type { Fetched, Handle, Question, ReadTask } from '../../ci_file/compile_worker_messages.ts';
import type { CompiledPlan, ReadOptions } from '../../ci_file/compile_and_plan.ts';

const program: Program = {
  path: programPath('src/ci/ci_file/compile_worker.ts', 'compile_worker'),
  maxMilliseconds: 10_000,
  memory: 256,
};

type ConfigSource = Omit<Source, 'limits'>;

/** Maps origins to numbers, because origin objects cannot be sent to the thread. */
const makeHandles = (first: unknown) => {
  const origins: unknown[] = [null];
  const getHandle = (origin: unknown): Handle => {
    const at = origin === null ? 0 : origins.indexOf(origin);
    return at >= 0 ? at : origins.push(origin) - 1;
  };
  return {
    first: getHandle(first),
    getHandle,
    getOrigin: (handle: Handle): unknown => origins[handle] ?? null,
  };
};

const createResponder = ({ fetch, conditions }: ConfigSource, handles: ReturnType<typeof makeHandles>) => {
  const answerFetch = async ({ target, origin }: Extract<Question, { ask: 'fetch' }>): Promise<Fetched> => {
    const result = await fetch(target, handles.getOrigin(origin));
    if ('problem' in result) return result;
    return { files: result.files.map((file) => ({ ...file, origin: handles.getHandle(file.origin) })) };
  };
  return async (sent: unknown): Promise<unknown> => {
    const question = sent as Question;
    if (question.ask === 'fetch') return await answerFetch(question);
    if (question.ask === 'files') return (await conditions.files?.()) ?? [];
    return (await conditions.changed?.(question.compare_to)) ?? null;
  };
};

const tooExpensiveText = 'The configuration takes too long to read, or too much memory';

const tooExpensive: CompiledPlan = {
  errors: [{ text: tooExpensiveText, old_text: tooExpensiveText, position: null }],
  warnings: [],
  includes: [],
  merged_yaml: null,
  planned: null,
  all: [],
  variables: [],
};

const readInThread = async (
  source: ConfigSource,
  options: ReadOptions,
  owner: string,
): Promise<CompiledPlan> => {
  const { content, path, conditions } = source;
  const { files, changed, ...plain } = conditions;
  const handles = makeHandles(source.origin);
  const available = { files: files !== undefined, changed: changed !== undefined };
  const task: ReadTask = {
    content,
    path,
    origin: handles.first,
    conditions: plain,
    available,
    options,
  };
  try {
    return (await runInWorker(program, {
      owner,
      task,
      answer: createResponder(source, handles),
    })) as CompiledPlan;
  } catch (error) {
    if (error instanceof WorkerLimitError) return tooExpensive;
    throw error;
  }
};

/**
 * Compiles a configuration and returns its content and errors.
 * @param owner key that limits concurrent worker threads
 * @throws Failure 503 if too many configurations wait
 */
export const readConfig = async (
  source: ConfigSource,
  options: ReadOptions,
  owner: string,
): Promise<CompiledPlan> => {
  const [{ compileAndPlan }, { TooHeavy, briefLimits }] = await Promise.all([
    import('../../ci_file/compile_and_plan.ts'),
    import('../../ci_file/syntax/limits.ts'),
  ]);
  if (source.content.length > briefLimits.text) return await readInThread(source, options, owner);
  try {
    return await compileAndPlan({ ...source, limits: briefLimits }, options);
  } catch (error) {
    if (!(error instanceof TooHeavy)) throw error;
    return await readInThread(source, options, owner);
  }
};
