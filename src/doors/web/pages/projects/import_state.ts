/** Renders how far the import of an empty project is. */
import { may } from '../../../../core/access/may.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import { loadImports } from '../../../../projects/projects/imports/load_imports.ts';
import { canImportInto, isBeingImported } from '../../../../projects/projects/imports/schedule_import.ts';
import type { Visit } from '../../page.ts';
import { emptyState } from '../../parts/empty_state.ts';
import { projectPagePath } from '../../parts/frame/project_layout.ts';
import { type Html, html } from '../../parts/html.ts';

/** Renders the import that waits or runs. The page updates itself until it has ended. */
const runningPart = ({ import_status }: Project): Html =>
  html`<section class="card" role="status">${emptyState({
    icon: 'code',
    title: 'Import in progress',
    text:
      import_status === 'scheduled'
        ? 'The repository waits for its import.'
        : 'Branches and tags are being received. Pushes are refused until they are here.',
  })}</section>`;

/** Renders why the latest import failed, for users who can start another import. */
const failedPart = async ({ call }: Visit, project: Project): Promise<Html> => {
  const failed = (await loadImports(call.db, [project.id])).get(project.id);
  return html`<div class="flash alert" role="alert"><p>The import failed. ${failed?.error}</p>
<p><a class="button" href="${projectPagePath(project, 'import/new')}">Try again</a></p></div>`;
};

/** Renders what to know of the import of a project without code; null: nothing. */
export const importState = async (visit: Visit, project: Project): Promise<Html | null> => {
  if (isBeingImported(project)) return runningPart(project);
  const mayRetry = may(visit.call.viewer, 'admin_project', project) && canImportInto(project);
  return project.import_status === 'failed' && mayRetry ? await failedPart(visit, project) : null;
};
