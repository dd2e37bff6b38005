/**
 * Replaces a text of a timeline by what the service has now: a comment, or the description with the head of the page.
 */
import { fetchPage } from '../fetch_page.ts';
import { keepVersion } from '../live/entry_versions.ts';
import { partShown } from '../page_parts.ts';

/** Elements that show the title of a record, or count its tasks. */
const head = ['record_head', 'sticky_title'];

const replace = (id: string, page: Document): Element | null => {
  const [shown, fresh] = [document.getElementById(id), page.getElementById(id)];
  if (shown === null || fresh === null) return null;
  keepVersion(fresh);
  const adopted = document.adoptNode(fresh);
  shown.replaceWith(adopted);
  return adopted;
};

/** Returns the fresh element; null if the page that has it could not be loaded. */
export const refreshEntry = async (id: string): Promise<Element | null> => {
  const all = document.querySelector<HTMLElement>('[data-threads]')?.dataset['threads'];
  const page = await fetchPage(all ?? location.href);
  // A page without the edit link was sent to a user who is no longer signed in.
  if (page === null || page.querySelector(`[data-edit="${id}"]`) === null) return null;
  const entry = replace(id, page);
  if (entry === null) return null;
  if (id === 'description') {
    for (const part of head) replace(part, page);
    document.title = page.title;
  }
  partShown();
  return entry;
};
