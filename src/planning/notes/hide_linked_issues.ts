/** Hides the reference in notes on links of issues from viewers who cannot see the other issue. */
import type { Call } from '../../core/access/call.ts';
import { visibleIssues } from '../../core/access/visible.ts';
import { linkedIssuePhrases } from '../issuables/text/system_note_text.ts';
import type { NoteRow } from './note_row.ts';

const linked = new RegExp(`^(${linkedIssuePhrases.join('|')}) (.*)#(\\d{1,15})$`);

/** `path`: lower case; empty: the project of the note. */
type Reference = { phrase: string; path: string; project_id: number; iid: number };

const parseLinked = ({ system, body, target_type, project_id }: NoteRow): Reference | null => {
  const match = system === 1 && target_type === 'Issue' ? linked.exec(body) : null;
  const [, phrase = '', path = '', iid = ''] = match ?? [];
  if (phrase === '' || project_id === null) return null;
  return { phrase, path: path.toLowerCase(), project_id, iid: Number(iid) };
};

/** Finds the projects that references name by their paths, present or former: the texts of notes stay. */
const loadProjectIds = async ({ db }: Call, references: Reference[]): Promise<Map<string, number>> => {
  const paths = new Set(references.map(({ path }) => path).filter((path) => path !== ''));
  if (paths.size === 0) return new Map();
  const selectFrom = (table: 'routes' | 'redirect_routes') =>
    db
      .selectFrom(table)
      .select(['path', 'source_id'])
      .where('source_type', '=', 'Project')
      .where('path', 'in', [...paths]);
  const [former, present] = await Promise.all([
    selectFrom('redirect_routes').execute(),
    selectFrom('routes').execute(),
  ]);
  return new Map([...former, ...present].map(({ path, source_id }) => [path, source_id]));
};

type Place = { project_id: number; iid: number };

const makeKey = ({ project_id, iid }: Place): string => `${project_id}#${iid}`;

/** Returns the keys of the issues at these places that the caller may see, in one statement. */
const visibleKeys = async ({ db, viewer, platform }: Call, places: Place[]): Promise<Set<string>> => {
  if (places.length === 0) return new Set();
  const { dialect } = platform.store;
  const rows = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.project_id', 'issues.iid'])
    .where('issues.project_id', 'in', [...new Set(places.map(({ project_id }) => project_id))])
    .where('issues.iid', 'in', [...new Set(places.map(({ iid }) => iid))])
    .where(visibleIssues(viewer, dialect))
    .execute();
  return new Set(rows.map(makeKey));
};

/** Returns replacement texts by note id, for notes whose other issue is hidden from the caller, or deleted. */
export const loadLinkedBodies = async (call: Call, notes: NoteRow[]): Promise<[number, string][]> => {
  const references = notes.flatMap((note) => {
    const reference = parseLinked(note);
    return reference === null ? [] : [{ id: note.id, reference }];
  });
  if (references.length === 0) return [];
  const projectIds = await loadProjectIds(
    call,
    references.map(({ reference }) => reference),
  );
  const placed = references.map(({ id, reference }) => {
    const { path, iid, phrase } = reference;
    const project_id = path === '' ? reference.project_id : projectIds.get(path);
    return { id, phrase, place: project_id === undefined ? null : { project_id, iid } };
  });
  const visible = await visibleKeys(
    call,
    placed.flatMap(({ place }) => place ?? []),
  );
  return placed
    .filter(({ place }) => place === null || !visible.has(makeKey(place)))
    .map(({ id, phrase }) => [id, `${phrase} another issue`]);
};
