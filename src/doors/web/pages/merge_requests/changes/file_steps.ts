/** Links from a changed file to the files before and after it. */
import type { FileDiff } from '../../../../../platform/git/protocol_types.ts';
import { diffFileId } from '../../../parts/diff/file_card.ts';
import { type Html, html } from '../../../parts/html.ts';
import { type IconName, icon } from '../../../parts/icon.ts';
import { changesPath, choiceOf } from './changes_address.ts';
import { splitFiles } from './file_pages.ts';
import type { Changes } from './load_changes.ts';

/** Returns the address of a file's card: on its part of the tab, or alone. */
const makeAddresses = ({ files, query, loaded }: Changes): ((file: FileDiff) => string) => {
  if (query.file !== undefined) {
    return (file) =>
      `${changesPath(loaded, { ...choiceOf(query), file: file.new_path })}#${diffFileId(file)}`;
  }
  const parts = splitFiles(files);
  const pages = new Map(parts.flatMap((part, at) => part.map(({ new_path }) => [new_path, at + 1] as const)));
  return (file) => {
    const page = pages.get(file.new_path) ?? 1;
    const path = parts.length === 1 ? '' : changesPath(loaded, { ...choiceOf(query), page });
    return `${path}#${diffFileId(file)}`;
  };
};

const stepLink = (file: FileDiff, path: string, [word, image]: readonly [string, IconName]): Html =>
  html`<a class="button small icon-button" href="${path}" aria-label="${word} file: ${file.new_path}" title="${word} file">${icon(image)}</a>`;

/** Makes the function that renders the links of a file. */
export const makeFileSteps = (changes: Changes): ((file: FileDiff) => Html | null) => {
  const { files } = changes;
  if (files.length < 2) return () => null;
  const addressOf = makeAddresses(changes);
  const order = new Map(files.map(({ new_path }, at) => [new_path, at]));
  const step = (file: FileDiff | undefined, look: readonly [string, IconName]): Html | null =>
    file === undefined ? null : stepLink(file, addressOf(file), look);
  return ({ new_path }) => {
    const at = order.get(new_path) ?? -1;
    return html`${step(files[at - 1], ['Previous', 'chevron-up'])}${step(files[at + 1], ['Next', 'chevron-down'])}`;
  };
};
