# Verifies a signed webhook with Ruby's standard library alone. Ruby 3.0 or newer.

require "date"
require "json"
require "openssl"
require "strscan"

module Webhook
  TOLERANCE = 300 # seconds, in either direction
  MAX_BODY = 16 * 1024 * 1024 # bytes

  # The delivery is refused. `code` is one of the fifteen codes.
  class VerificationError < StandardError
    alias code message
  end

  module_function

  # Returns the event, a Hash, or raises a VerificationError.
  #
  # raw_body: the bytes as they came in (`request.body.read`). headers: the Rack environment (`request.env`), in which
  # several lines of one name are joined. secrets: an array of strings, eight at most. now: Unix seconds, whole.
  def verify(raw_body, headers, secrets, now)
    raise ArgumentError, "at most 8 secrets" if secrets.length > 8
    refuse_unless(raw_body.nil? || raw_body.bytesize <= MAX_BODY, "invalid_payload")
    refuse_unless(raw_body && !raw_body.empty?, "missing_body")
    is_usable = ->(secret) { secret.match?(/\Awhsec_[!-~]{1,506}\z/) }
    refuse_unless(!secrets.empty? && secrets.all?(is_usable), "invalid_secret")
    timestamp = headers["HTTP_SERVICE_TIMESTAMP"].to_s.b
    refuse_unless(timestamp.match?(/\A[0-9]{10}\z/), "invalid_timestamp")
    refuse_unless((now - timestamp.to_i).abs <= TOLERANCE, "stale_timestamp")
    signature = trim(headers["HTTP_SERVICE_SIGNATURE"].to_s.b)
    refuse_unless(!signature.empty?, "missing_signature")
    refuse_unless(signed?(signature, timestamp, raw_body, secrets), "invalid_signature")
    event = parse(raw_body)
    check(event)
    refuse_unless(headers["HTTP_SERVICE_EVENT_ID"].to_s.b == event["id"], "event_id_mismatch")
    event
  end

  def refuse_unless(condition, code)
    raise VerificationError, code unless condition
  end

  # `String#strip` would remove other blanks, too.
  def trim(text)
    text.delete_prefix(text[/\A[ \t]*/]).then { |rest| rest[0..rest.rindex(/[^ \t]/)] }
  end

  def signed?(signature, timestamp, raw_body, secrets)
    return false if signature.bytesize > 16_384
    found = false
    secrets.each do |secret|
      expected = "v1=" + OpenSSL::HMAC.hexdigest("SHA256", secret, "#{timestamp}.".b + raw_body.b)
      # In constant time; and all are compared, whichever is right.
      signature.split(",").each { |item| found |= OpenSSL.secure_compare(trim(item), expected) }
    end
    found
  end

  # Tokens as RFC 8259 has them, without halves of surrogate pairs. (Possessive: no stack for long strings.)
  STRING = /"(?:[^"\\\x00-\x1f]++|\\(?:["\\\/bfnrt]|u(?:[0-9a-ce-fA-CE-F]\h{3}|[dD][0-7]\h{2}|
    [dD][89abAB]\h{2}\\u[dD][c-fC-F]\h{2})))*+"/x
  NUMBER = /-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+/
  OTHERS = /[ \t\r\n,:]++|true|false|null/

  # `JSON.parse`, without what it accepts beyond the contract: comments, other escapes, infinite numbers, half
  # characters, repeated names.
  def parse(raw_body)
    text = raw_body.dup.force_encoding(Encoding::UTF_8)
    refuse_unless(text.valid_encoding?, "invalid_json")
    event = JSON.parse(text, max_nesting: 127, allow_duplicate_key: true)
    refuse_unless(unique_names?(text), "invalid_payload")
    event
  rescue JSON::ParserError
    raise VerificationError, "invalid_json"
  end

  # Whether all names in the root, in `merchant` and in `data` are different.
  def unique_names?(text)
    open = [] # for each open bracket: the names that must not be repeated there, or nil
    unique = true
    name = nil
    scanner = StringScanner.new(text)
    until scanner.eos?
      if (string = scanner.scan(STRING))
        next unless scanner.match?(/[ \t\r\n]*+:/)
        name = JSON.parse(string)
        unique = false if open.last&.include?(name)
        open.last&.store(name, true)
      elsif scanner.skip(/\{/)
        is_member = open.length == 1 && open.first && %w[merchant data].include?(name)
        open.push(open.empty? || is_member ? {} : nil)
      elsif scanner.skip(/\[/)
        open.push(nil)
      elsif scanner.skip(/[\]}]/)
        open.pop
      elsif (number = scanner.scan(NUMBER))
        refuse_unless(number.to_f.finite?, "invalid_json")
      else
        refuse_unless(scanner.skip(OTHERS), "invalid_json")
      end
    end
    unique
  end

  # The members of the envelope, in the order of the codes. Unknown members and unknown types pass.
  def check(event)
    refuse_unless(object?(event), "invalid_payload")
    merchant, data = event.values_at("merchant", "data")
    counts = event.values_at("sequence", "resource_version").compact
    refuse_unless(counts.all? { |value| integer?(value) }, "invalid_payload")
    refuse_unless([nil, true, false].include?(event["livemode"]), "invalid_payload")
    refuse_unless(event.values_at("recipient", "links").compact.all? { |value| object?(value) }, "invalid_payload")
    refuse_unless(matches?(event["id"], /\Aevt_[0-9A-Za-z_-]{1,124}\z/), "invalid_event_id")
    is_type = matches?(event["type"], /\A[a-z][a-z0-9_]*(\.[a-z0-9_]+)+\z/)
    refuse_unless(is_type && event["type"].length <= 128, "invalid_event_type")
    refuse_unless(date?(event["api_version"]), "invalid_api_version")
    refuse_unless(time?(event["created_at"]), "invalid_created_at")
    is_merchant = object?(merchant) && matches?(merchant["id"], /\Amer_[0-9A-Za-z_-]{1,124}\z/)
    is_slug = is_merchant && matches?(merchant["slug"], /\A[^\u0000-\u001f\u007f-\u009f]{1,128}\z/)
    refuse_unless(is_slug, "invalid_merchant")
    refuse_unless(object?(data) && object?(data["object"]), "invalid_data")
  end

  def object?(value)
    value.is_a?(Hash)
  end

  def integer?(value)
    value.is_a?(Numeric) && value == value.to_i && value.between?(0, 2**53 - 1)
  end

  def matches?(value, pattern)
    value.is_a?(String) && value.match?(pattern)
  end

  # Gregorian from the year 1 on; Ruby's calendar would be Julian before 1582.
  def date?(value)
    matches?(value, /\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}\z/) &&
      Date.valid_date?(*value.split("-").map(&:to_i), Date::GREGORIAN)
  end

  def time?(value)
    matches?(value, /\A.{10}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z\z/) && date?(value[0, 10])
  end
end
