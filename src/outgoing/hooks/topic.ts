/** Topic that every change of hooks broadcasts. */
export const hooksTopic = 'hooks';

/** Background work that sends the pending deliveries of a hook whose pause has ended. */
export const resumeWork = 'hooks.resume';
