/** Worker thread that compiles CI configurations and plans pipelines. */
import { type AskParent, serveTasks } from '../../platform/workers/serve_tasks.ts';
import type { Conditions } from './conditions.ts';
import { fullLimits } from './syntax/limits.ts';
import type { Fetched, Question, ReadTask } from './compile_worker_messages.ts';
import { compileAndPlan } from './compile_and_plan.ts';

const toConditions = ({ conditions, available }: ReadTask, ask: (question: Question) => Promise<unknown>) =>
  ({
    ...conditions,
    ...(available.files && { files: async () => (await ask({ ask: 'files' })) as string[] }),
    ...(available.changed && {
      changed: async (compare_to: string | null) =>
        (await ask({ ask: 'changed', compare_to })) as string[] | null,
    }),
  }) satisfies Conditions;

serveTasks(async (sent, ask: AskParent) => {
  const task = sent as ReadTask;
  const question = async (one: Question): Promise<unknown> => await ask(one);
  const { content, path, origin, options } = task;
  return await compileAndPlan(
    {
      content,
      path,
      origin,
      conditions: toConditions(task, question),
      limits: fullLimits,
      fetch: async (target, from) =>
        (await question({ ask: 'fetch', target, origin: from as number })) as Fetched,
    },
    options,
  );
});
