/** The menu to add files to a folder of a branch, for users who can push. */
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { menu } from '../menu.ts';
import { type CodeNoun, codePath } from './code_path.ts';

type Folder = {
  project: Project;
  /** A branch. */
  ref: string;
  /** Empty: the root. */
  path: string;
};

const items: readonly (readonly [CodeNoun, string, IconName])[] = [
  ['new', 'New file', 'file'],
  ['upload', 'Upload file', 'upload'],
  ['new_folder', 'New folder', 'folder'],
];

/** Renders a link for each way to add a file. */
export const addFileLinks = ({ project, ref, path }: Folder, classes = ''): Html =>
  html`${items.map(
    ([noun, name, image]) =>
      html`<a${classes !== '' && html` class="${classes}"`} href="${codePath(project, noun, ref, path)}">${icon(image)} ${name}</a>
`,
  )}`;

/** Renders the menu; null for users who cannot push. */
export const addFileMenu = ({ call }: Visit, folder: Folder): Html | null =>
  may(call.viewer, 'push_code', folder.project)
    ? menu(
        { summary: html`${icon('plus')} Add ${icon('chevron-down')}`, classes: 'button' },
        addFileLinks(folder),
      )
    : null;
