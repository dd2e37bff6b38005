import type { Call } from '../access/call.ts';
import type { Oid } from '../git/protocol_types.ts';
import type { Code } from './code.ts';
import { commitFiles } from './commit_files.ts';

/** Begins a repository: a README with the project's name and description. */
export const commitReadme = async (call: Call, code: Code, branch: string): Promise<Oid> => {
  const { name, description } = code.project;
  const text = [`# ${name}`, ...(description === null || description === '' ? [] : [description])].join(
    '\n\n',
  );
  return await commitFiles(call, code, {
    branch,
    message: 'Initial commit',
    actions: [{ action: 'create', file_path: 'README.md', content: Buffer.from(`${text}\n`) }],
  });
};
