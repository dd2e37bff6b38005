/** Worker thread that parses test reports: see `platform/workers/run_in_worker.ts`. */
import { serveTasks } from '../../../platform/workers/serve_tasks.ts';
import { readJunit } from './junit.ts';
import { XmlFault } from './xml.ts';

/** Cases in one message: copied in a few milliseconds. */
const chunkSize = 2_000;

const read = (text: string) => {
  try {
    return { cases: readJunit(text), error: null };
  } catch (error) {
    if (error instanceof XmlFault || error instanceof RangeError) return { cases: [], error };
    throw error;
  }
};

/** Posts the cases in chunks. Returns the error of the report, or null. */
serveTasks(async (text, ask) => {
  const { cases, error } = read(text as string);
  for (let at = 0; at < cases.length; at += chunkSize) {
    await ask(cases.slice(at, at + chunkSize));
  }
  return error === null ? null : { fault: error instanceof XmlFault, message: error.message };
});
