import type { Cause } from '../../../core/events/record_event.ts';
import type { RefUpdate } from '../../../platform/git/protocol_types.ts';

export type OperationKind = 'push' | 'commit' | 'branch' | 'merge';

export type Operation = {
  id: number;
  project_id: number;
  cause: Cause | null;
  kind: OperationKind;
  updates: RefUpdate[];
  /** Plain JSON for the completion. */
  data: Record<string, unknown>;
  created_at: number;
};
