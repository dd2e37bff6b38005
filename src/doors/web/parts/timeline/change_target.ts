import type { LoadedNoteable } from '../../../../planning/issuables/target.ts';

/** Names a record as the script does that follows changes: `Issue 12 3`. */
export const changeTarget = ({ target: { type, project_id, iid } }: Pick<LoadedNoteable, 'target'>): string =>
  `${type} ${project_id} ${iid}`;
