/** Addresses of pages about the files of a commit. */
import type { Project } from '../../../../projects/projects/find.ts';
import { projectPagePath } from '../frame/project_layout.ts';
import { encodePath } from './encode_path.ts';

export type CodeNoun =
  | 'tree'
  | 'blob'
  | 'raw'
  | 'blame'
  | 'commits'
  | 'find_file'
  | 'graphs'
  | 'new'
  | 'new_folder'
  | 'upload'
  | 'edit'
  | 'delete';

/**
 * Decodes the end of an address. Names of files can be any bytes: bytes that are not UTF-8 become U+FFFD, as in lists
 * of files.
 */
export const decodePath = (sent: string): string =>
  Buffer.from(
    sent.replaceAll(/%([\da-f]{2})/gi, (_code, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    ),
    'latin1',
  ).toString('utf8');

/** Returns the address of a page: `/group/project/-/blob/main/src/main.ts`. */
export const codePath = (
  project: Pick<Project, 'full_path'>,
  noun: CodeNoun,
  ref: string,
  path = '',
): string => projectPagePath(project, `${noun}/${encodePath(path === '' ? ref : `${ref}/${path}`)}`);
