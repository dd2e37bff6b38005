/** Runs the scripts of a job in order. */
import type { Ended } from '../executors/run_process.ts';
import { type Result, toResult, getExitStatus, toStatusWord, success } from './job_result.ts';
import type { Prepared } from './prepared_job.ts';
import type { Step } from '../coordinator/protocol.ts';
import { runScript } from './run_script.ts';
import { startTimer } from './stop_signals.ts';
import { parseSeconds } from '../job_variables.ts';

/** Time limit of an `after_script`. */
const afterLimit = 300;

/** Runs a step; output resets its silence limit. */
const runStep = async (prepared: Prepared, step: Step, stop: AbortController): Promise<Ended> => {
  const { trace, parts } = prepared;
  const idle = startTimer(parts.idleLimit, () => stop.abort('idle'));
  const output = trace.output();
  const onOutput = (chunk: Buffer): void => {
    idle.refresh();
    output.write(chunk);
  };
  try {
    return await runScript({ ...prepared, name: step.name, lines: step.script, onOutput, stop: stop.signal });
  } finally {
    clearTimeout(idle);
    output.end();
  }
};

/** Runs a hook. @returns null if the job may continue */
export const runHook = async (prepared: Prepared): Promise<Result | null> => {
  const hook = prepared.job.hooks?.find(({ name }) => name === 'pre_get_sources_script');
  if (hook === undefined || hook.script.length === 0) return null;
  const ended = await runStep(prepared, hook, prepared.stopSignals.script);
  return ended.code === 0 ? null : toResult(prepared.stopSignals.getReason(), ended, prepared.limits);
};

const isAfter = ({ name }: Step): boolean => name === 'after_script';

/**
 * Stops the script at a separate limit, which leaves time for the following steps. Returns a function that cancels the
 * timer.
 */
const limitScripts = ({ values, stopSignals, limits }: Prepared): (() => void) => {
  const seconds = parseSeconds(values.get('RUNNER_SCRIPT_TIMEOUT'));
  if (seconds === null || seconds >= limits.timeout) return () => undefined;
  const timer = startTimer(seconds, () => stopSignals.end('timeout'));
  return () => clearTimeout(timer);
};

export const runScripts = async (prepared: Prepared): Promise<Result> => {
  const { job, trace, stopSignals, limits } = prepared;
  const release = limitScripts(prepared);
  try {
    for (const step of job.steps.filter((step) => !isAfter(step))) {
      const name = step.name === 'script' ? 'step_script' : `step_${step.name}`;
      const ended = await trace.section(name, async () => {
        trace.say(`Executing "${name}" stage of the job script`, 'blue');
        return await runStep(prepared, step, stopSignals.script);
      });
      const result = toResult(stopSignals.getReason(), ended, limits);
      if (result.outcome.state === 'failed') return result;
    }
    return success;
  } finally {
    release();
  }
};

/** Runs `after_script` in its own shell; its result does not count. */
export const runAfter = async (prepared: Prepared, result: Result): Promise<void> => {
  const { job, trace, stopSignals, values } = prepared;
  const step = job.steps.find(isAfter);
  if (step === undefined || step.script.length === 0 || stopSignals.all.signal.aborted) return;
  const own = new AbortController();
  const onAll = (): void => own.abort('abort');
  stopSignals.all.signal.addEventListener('abort', onAll, { once: true });
  const seconds = parseSeconds(values.get('RUNNER_AFTER_SCRIPT_TIMEOUT')) ?? afterLimit;
  const timer = startTimer(seconds, () => own.abort('timeout'));
  const more = { ...prepared, values: new Map([...values, ['CI_JOB_STATUS', toStatusWord(result)]]) };
  try {
    await trace.section('after_script', async () => {
      trace.say('Running after_script', 'blue');
      trace.say('Running after script...', 'green');
      const ended = await runStep(more, step, own);
      const status = getExitStatus(ended);
      const why = own.signal.aborted ? 'it took too long' : `exit code ${status}`;
      if (own.signal.aborted || status !== 0)
        trace.say(`WARNING: after_script failed, but job will continue unaffected: ${why}`, 'yellow');
    });
  } finally {
    clearTimeout(timer);
    stopSignals.all.signal.removeEventListener('abort', onAll);
  }
};
