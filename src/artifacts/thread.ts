/** Reads reports of tests in a thread of its own: see `apart/threads.ts`. */
import { serveTasks } from '../apart/serve_tasks.ts';
import { readJunit } from './junit.ts';
import { XmlFault } from './xml.ts';

/** Cases that are handed over at once: copied in a few milliseconds. */
const handful = 2_000;

const read = (text: string) => {
  try {
    return { cases: readJunit(text), error: null };
  } catch (error) {
    if (error instanceof XmlFault || error instanceof RangeError) return { cases: [], error };
    throw error;
  }
};

/** Hands the cases over as it goes on; answers what is wrong with the report, null: nothing. */
serveTasks(async (text, ask) => {
  const { cases, error } = read(text as string);
  for (let at = 0; at < cases.length; at += handful) {
    // oxlint-disable-next-line no-await-in-loop -- a handful when the last one was taken
    await ask(cases.slice(at, at + handful));
  }
  return error === null ? null : { fault: error instanceof XmlFault, message: error.message };
});
