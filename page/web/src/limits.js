// What limited_by means, as docs/limited-by.md has it.
export const limits = {
  'slow-start': 'the test ended while the rate still grew, so the goodput is a lower bound. A longer test would tell.',
  cpu: 'a machine could not send or take bytes faster. The path carries more than this.',
  'send-buffer': 'the sender’s socket buffer holds less than rate times round trip.',
  'receive-window': 'the receiver offers less window than rate times round trip.',
  application: 'the probe did not hand over bytes fast enough, though its machine was not busy. Measure again.',
  loss: 'packets were lost and the congestion control slowed down for them.',
  'rate-cap': 'something passes only so much: a link, the machine’s allowance, a policer, or a cap of each flow.',
  'flow-cap': 'each flow has a cap: more streams bring more.',
  unknown: 'none of the rules held.',
};
