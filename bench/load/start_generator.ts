/** Starts the load generator as a process, and sends it jobs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Command, Outcome } from './load_job.ts';
import { pinned } from '../process_usage.ts';

export type Loader = {
  /** @throws Error for an unexpected answer, because figures of wrong answers are meaningless. */
  run: (command: Command) => Promise<Outcome>;
  stop: () => Promise<void>;
};

type Message = { outcome?: Outcome; error?: string };

export const startLoader = (): Loader => {
  const [program, args] = pinned(1, process.execPath, [join(import.meta.dirname, 'load_generator.ts')]);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended: Promise<Message> = once(child, 'exit').then(() => ({ error: 'the load generator ended' }));
  return {
    run: async (command) => {
      const answered = once(child, 'message').then(([message]) => message as Message);
      child.send(command);
      const { outcome, error } = await Promise.race([answered, ended]);
      if (outcome === undefined) throw new Error(error);
      if (outcome.wrongCount > 0 && !(command.kind === 'open' && command.countsWrong)) {
        throw new Error(
          `${outcome.wrongCount} of ${outcome.answered} answers are wrong:\n${outcome.wrong.join('\n')}`,
        );
      }
      return outcome;
    },
    stop: async () => {
      child.disconnect();
      await ended;
    },
  };
};
