/** Reads configurations in a thread of its own: see `apart/threads.ts`. */
import { type Ask, serveTasks } from '../apart/serve_tasks.ts';
import type { Conditions } from './conditions.ts';
import { fullLimits } from './limits.ts';
import type { Fetched, Question, ReadTask } from './questions.ts';
import { readAll } from './read_all.ts';

const conditionsOf = ({ conditions, knows }: ReadTask, ask: (question: Question) => Promise<unknown>) =>
  ({
    ...conditions,
    ...(knows.files && { files: async () => (await ask({ ask: 'files' })) as string[] }),
    ...(knows.changed && {
      changed: async (compare_to: string | null) =>
        (await ask({ ask: 'changed', compare_to })) as string[] | null,
    }),
  }) satisfies Conditions;

serveTasks(async (sent, ask: Ask) => {
  const task = sent as ReadTask;
  const question = async (one: Question): Promise<unknown> => await ask(one);
  const { content, path, origin, wish } = task;
  return await readAll(
    {
      content,
      path,
      origin,
      conditions: conditionsOf(task, question),
      limits: fullLimits,
      fetch: async (wanted, from) =>
        (await question({ ask: 'fetch', wanted, origin: from as number })) as Fetched,
    },
    wish,
  );
});
