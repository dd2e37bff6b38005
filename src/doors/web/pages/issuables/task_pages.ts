/** Handles the form that checks and unchecks tasks in the description of an issue or merge request. */
import type { Call } from '../../../../core/access/call.ts';
import type { LoadedTarget } from '../../../../planning/issuables/target.ts';
import { toggleTask } from '../../../../planning/issuables/text/tasks.ts';
import { conflict } from '../../../../platform/errors.ts';
import { integer, object, optional, text } from '../../../../platform/http/schema.ts';
import { page } from '../../page.ts';
import { requireUnchanged } from '../../parts/timeline/edit_conflicts.ts';
import { type IssuableKind, recordParams } from './issuable_kind.ts';
import { findEditable } from './find_editable.ts';
import { returnParam, returnPath } from './return_path.ts';
import { submitForm } from './submit_form.ts';

type TaskChange = { line: number; base: string };

export const taskParams = {
  line: optional(integer({ minimum: 0 })),
  base: optional(text()),
  ...returnParam,
};

/** Returns the text with the task of that line checked or unchecked. @throws Failure 409 if the line is not a task */
export const changeTaskOf = (before: string, line: number): string => {
  const after = toggleTask(before, line);
  if (after === null) throw conflict('This task no longer exists.');
  return after;
};

const changeTask = async <L extends LoadedTarget>(
  kind: IssuableKind<L>,
  call: Call,
  loaded: L,
  { line, base }: TaskChange,
): Promise<void> => {
  const description = changeTaskOf(kind.texts(loaded).description ?? '', line);
  const check = (locked: L): void => requireUnchanged(base, kind.texts(locked), kind.noun.word);
  await kind.describe(call, loaded, description, check);
};

const tasksPage = <L extends LoadedTarget>(kind: IssuableKind<L>) =>
  page({
    method: 'POST',
    path: `${kind.routePath}/:iid/tasks`,
    audience: 'user',
    params: object({
      ...recordParams,
      ...taskParams,
    }),
    handle: async (visit, { line = 0, base = '', return_to, ...named }) => {
      const loaded = await findEditable(kind, visit.call, named);
      const operation = async () => await changeTask(kind, visit.call, loaded, { line, base });
      const next = (): string => returnPath(visit, return_to, `${kind.path(loaded)}#description`);
      return await submitForm({ kind, visit, loaded }, operation, { next });
    },
  });

export const taskPages = <L extends LoadedTarget>(kind: IssuableKind<L>) => [tasksPage(kind)];
