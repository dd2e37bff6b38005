import type { Call } from '../../../core/access/call.ts';
import type { Oid } from '../../../platform/git/protocol_types.ts';
import type { Code } from '../find_code.ts';
import type { FileAction } from '../commits/file_actions.ts';
import { commitFiles } from '../commits/create.ts';

/** Commits a README with the project's name and description, and further files. */
export const commitReadme = async (
  call: Call,
  code: Code,
  branch: string,
  others: readonly FileAction[] = [],
): Promise<Oid> => {
  const { name, description } = code.project;
  const text = [`# ${name}`, ...(description === null || description === '' ? [] : [description])].join(
    '\n\n',
  );
  return await commitFiles(call, code, {
    branch,
    message: 'Initial commit',
    actions: [{ action: 'create', file_path: 'README.md', content: Buffer.from(`${text}\n`) }, ...others],
  });
};
