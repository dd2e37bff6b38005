/** Topic that every change of hooks broadcasts. */
export const hooksTopic = 'hooks';

/** Background work that makes the pending deliveries of a hook due, when an edit ended its pause. */
export const resumeWork = 'hooks.resume';
