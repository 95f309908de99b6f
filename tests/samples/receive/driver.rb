# Reads deliveries (cases.mjs) from standard input and prints what the sample in Ruby says of each.

require "#{ARGV.fetch(0)}/verify"

def decode(field)
  field == "-" ? nil : field.unpack1("m0")
end

def judge(line)
  body, timestamp, signature, event_id, now, secrets = line.chomp.split("\t", -1)
  headers = {
    "HTTP_SERVICE_TIMESTAMP" => decode(timestamp),
    "HTTP_SERVICE_SIGNATURE" => decode(signature),
    "HTTP_SERVICE_EVENT_ID" => decode(event_id),
  }.compact
  secrets = secrets == "-" ? [] : secrets.split(",", -1).map { |secret| decode(secret) }
  event = Webhook.verify(decode(body), headers, secrets, Integer(now))
  "ok\t#{[JSON.generate(event, max_nesting: 0)].pack("m0")}"
rescue Webhook::VerificationError => error
  error.code
rescue ArgumentError => error
  error.message == "at most 8 secrets" ? "configuration" : raise
end

$stdin.each_line { |line| puts judge(line) }
